import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sayFileChanges } from './file-changes.ts';
import type { PiApi, PiContext, ToolResultEvent } from './pi-api.ts';
import { CHANGE_STATUS } from './protocol.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pi-changes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The extension in a pi that tells it what it does. */
function extension() {
  const handlers = new Map<string, (event: ToolResultEvent, ctx: PiContext) => unknown>();
  const said: unknown[] = [];
  sayFileChanges({ on: (name: string, handler: never) => handlers.set(name, handler) } as unknown as PiApi);
  const setStatus = (key: string, text: string): void => {
    if (key === CHANGE_STATUS) said.push(JSON.parse(text));
  };
  const ctx = { cwd: folder, ui: { setStatus } } as unknown as PiContext;
  const event = (toolCallId: string, path: string, isError: boolean) => {
    return { toolName: 'write', toolCallId, input: { path }, isError };
  };
  return {
    said,
    call: (id: string, path: string) => void handlers.get('tool_call')?.(event(id, path, false), ctx),
    end: (id: string, path: string, isError = false) =>
      void handlers.get('tool_result')?.(event(id, path, isError), ctx),
  };
}

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

test('of two calls side by side that write one file, each says its own change', () => {
  write('a.txt', 'one');
  const { said, call, end } = extension();
  call('1', 'a.txt');
  call('2', '@a.txt');
  write('a.txt', 'two');
  end('1', 'a.txt');
  write('a.txt', 'three');
  end('2', '@a.txt');
  const path = join(folder, 'a.txt');
  expect(said).toEqual([
    { toolCallId: '1', path, before: 'one', after: 'two' },
    { toolCallId: '2', path, before: 'two', after: 'three' },
  ]);
});

test('a file that was not there before is told from an empty one', () => {
  write('empty.txt', '');
  const { said, call, end } = extension();
  for (const name of ['new.txt', 'empty.txt']) {
    call(name, name);
    write(name, 'text');
    end(name, name);
  }
  expect(said).toMatchObject([{ before: null }, { before: '' }]);
});

test('what failed, and what is no text, says nothing', () => {
  const { said, call, end } = extension();
  call('1', 'a.txt');
  end('1', 'a.txt', true);
  call('2', 'a.bin');
  write('a.bin', 'a\u0000b');
  end('2', 'a.bin');
  call('3', 'large.txt');
  write('large.txt', 'x'.repeat(600_000));
  end('3', 'large.txt');
  end('unseen', 'a.txt');
  expect(said).toEqual([]);
});
