import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const CODEX = resolve('.tidemark/engines/codex/node_modules/.bin/codex');

/** What the dialect and the driver read, each held against the type that the pinned version generates of itself. */
const READ: readonly (readonly [schema: string, native: string])[] = [
  ['Delta', 'AgentMessageDeltaNotification'],
  ['Delta', 'ReasoningTextDeltaNotification'],
  ['Delta', 'ReasoningSummaryTextDeltaNotification'],
  ['Delta', 'CommandExecutionOutputDeltaNotification'],
  ['ThreadMessage', 'ThreadStartedNotification'],
  ['TurnMessage', 'TurnStartedNotification'],
  ['TurnMessage', 'TurnCompletedNotification'],
  ['ResolvedRequest', 'ServerRequestResolvedNotification'],
  ['TokenUsage', 'ThreadTokenUsageUpdatedNotification'],
  ['Plan', 'TurnPlanUpdatedNotification'],
  ['TurnDiff', 'TurnDiffUpdatedNotification'],
  ['ErrorMessage', 'ErrorNotification'],
  ['Settings', 'ThreadSettingsUpdatedNotification'],
];

/** A message has the fields of its own type, of those that are read of all; what is missing is read as empty. */
const PART =
  'type Part<T> = T extends (infer U)[] ? Part<U>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;';

let types: string;

beforeAll(async () => {
  types = await mkdtemp(resolve('.tidemark/codex-types-'));
  await run(CODEX, ['app-server', 'generate-ts', '--out', types]);
});
afterAll(async () => {
  await rm(types, { recursive: true, force: true });
});

describe('the app-server’s own types, generated from the pinned version', () => {
  it('fit what the dialect and the driver read of them', async () => {
    const schemas = resolve('activities/engines/codex/codex-schema.ts');
    const lines = READ.map(([schema, native], i) => {
      return `export const read${String(i)} = (native: import('./v2/${native}').${native}): Part<z.input<typeof ours.${schema}>> => native;`;
    });
    // an image's `result` is its text, which is read as none: only a tool's is
    const items = `Exclude<import('./v2/ThreadItem').ThreadItem, { type: 'imageGeneration' }>`;
    lines.push(`export const item = (native: ${items}): Part<z.input<typeof ours.Item>> => native;`);
    const file = join(types, 'check.ts');
    await writeFile(
      file,
      [`import type { z } from 'zod';`, `import type * as ours from '${schemas}';`, PART, ...lines].join('\n'),
    );
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--ignoreConfig'];
    const options = [
      ...flags,
      '--target',
      'es2023',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--types',
      'node',
    ];
    const tsc = resolve('node_modules/typescript/lib/tsc.js');
    const found = await run(process.execPath, [tsc, ...options, file]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    expect(found).toBe('');
  });
});
