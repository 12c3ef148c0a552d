import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtinTools } from './registry.ts';
import { toolSuite, type ToolSubject } from './tool.testsuite.ts';

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'text/plain').end('a page');
});
const host = (): string => `127.0.0.1:${String((server.address() as AddressInfo).port)}`;

beforeAll(async () => await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** No name leads anywhere: only addresses do. */
const tools = builtinTools({ lookup: () => Promise.resolve([]) });

const SUBJECTS: Readonly<Record<string, Omit<ToolSubject, 'tool'>>> = {
  list_files: { args: () => ({ path: '.' }), paths: ['path'] },
  read_file: { args: () => ({ path: 'a.txt' }), paths: ['path'] },
  search_files: { args: () => ({ pattern: 'hell' }), paths: ['path'] },
  write_file: { args: () => ({ path: 'b.txt', content: 'x' }), paths: ['path'] },
  edit_file: { args: () => ({ path: 'a.txt', old_text: 'hell', new_text: 'jell' }), paths: ['path'] },
  shell: { args: () => ({ command: 'cat a.txt' }), paths: ['cwd'] },
  fetch_url: { args: () => ({ url: `http://${host()}/` }), context: () => ({ fetchAllow: [host()] }) },
  save_artifact: { args: () => ({ path: 'a.txt' }), paths: ['path'] },
  update_plan: { args: () => ({ entries: [{ text: 'look around', status: 'in_progress' }] }) },
  ask_user: { args: () => ({ prompt: 'Which one?' }) },
  delegate: { args: () => ({ task: 'Read a.txt.', name: 'reader', tools: ['read_file'] }) },
};

it('the suite judges every built-in tool', () => {
  expect(Object.keys(SUBJECTS)).toEqual([...tools.keys()]);
});

for (const tool of tools.values()) {
  const subject = SUBJECTS[tool.name];
  if (subject !== undefined) toolSuite({ tool, ...subject });
}
