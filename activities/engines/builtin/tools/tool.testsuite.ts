import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentToolResult, textOf } from '../../../../contract/agent-messages.ts';
import type { BuiltinTool, ExecutableTool, ToolContext, ToolOutcome } from './tool.ts';
import { toolContext } from './tool-testkit.ts';

type Arguments = Readonly<Record<string, unknown>>;

export interface ToolSubject {
  readonly tool: BuiltinTool;
  /** Arguments of a call that succeeds in a workspace which holds `a.txt` with the text `hello`. */
  readonly args: () => Arguments;
  /** Its arguments that name a place in the workspace. */
  readonly paths?: readonly string[];
  readonly context?: () => Partial<ToolContext>;
}

/** What a result's text may be at most: a model must be able to read it. */
const RESULT_CHARS = 300_000;
const HOSTILE_TEXTS = [
  '\0',
  '',
  ' ',
  '\ud800',
  '\u202E',
  '../../etc',
  '$(id)',
  '(((((',
  'x'.repeat(5_000),
  '🌍'.repeat(300),
];
const HOSTILE_PATHS = [
  '..',
  '../x',
  'a/../../x',
  '/etc/passwd',
  '//etc',
  'C:\\x',
  'a\0b',
  'out',
  'out/secret.txt',
  'fds/0',
];

/** What every tool of the built-in engine keeps to, whoever made it. */
export function toolSuite(subject: ToolSubject): void {
  const { tool } = subject;
  judgeRecord(tool, subject.args);
  if (tool.kind === 'execute') judgeExecution(tool, subject);
}

function judgeRecord(tool: BuiltinTool, args: ToolSubject['args']): void {
  describe(`the record of ${tool.name}`, () => {
    it('says what a model and a person must know', () => {
      expect(tool.name).toMatch(/^[a-z][a-z0-9_]{0,63}$/);
      expect(tool.label).toMatch(/^\S.{0,39}$/);
      expect(tool.description).toMatch(/^.{20,1024}$/s);
    });

    it('has a JSON Schema that compiles, allows nothing else, and takes what the tool takes', () => {
      const accepts = compiled(tool);
      expect(tool.parameters).toMatchObject({ type: 'object', additionalProperties: false });
      expect(accepts(args())).toBe(true);
      expect(tool.validate(args())).toMatchObject({ ok: true });
    });

    it('lets nothing be repeated, or run beside others, that a person must approve', () => {
      const { approval, repeatable, parallelSafe } = tool;
      expect(approval === 'never' || (!repeatable && !parallelSafe)).toBe(true);
    });

    it('describes a call in one line', () => {
      expect(tool.describe(args())).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u);
    });

    it('refuses arguments that do not fit, as its schema does, and names the field', () => {
      const accepts = compiled(tool);
      for (const [field, bad] of badArguments(tool, args())) {
        const checked = tool.validate(bad);
        const told = checked.ok ? `${JSON.stringify(bad)} was accepted` : checked.error;
        expect(told).toMatch(new RegExp(`^error: invalid arguments for ${tool.name}: .*${field}`));
        expect(accepts(bad)).toBe(false);
      }
    });

    it.each([[null], [undefined], ['text'], [7], [[]]])('refuses %j, which is no object', (bad) => {
      expect(tool.validate(bad)).toMatchObject({ ok: false, kind: 'invalid-arguments' });
    });
  });
}

function judgeExecution(
  tool: ExecutableTool,
  { args, paths = [], context: given = () => ({}) }: Omit<ToolSubject, 'tool'>,
): void {
  describe(`a call of ${tool.name}`, () => {
    let outside = '';
    let workspace = '';

    beforeEach(async () => {
      outside = await mkdtemp(join(tmpdir(), 'tidemark-tool-suite-'));
      workspace = join(outside, 'workspaces', 'run');
      await mkdir(workspace, { recursive: true });
      await writeFile(join(outside, 'secret.txt'), 'top secret');
      await writeFile(join(workspace, 'a.txt'), 'hello');
      await symlink(outside, join(workspace, 'out'));
      await symlink('/proc/self/fd', join(workspace, 'fds'));
    });
    afterEach(async () => await rm(outside, { recursive: true, force: true }));

    const context = (signal = new AbortController().signal): ToolContext =>
      toolContext({ workspace, ...given(), signal });

    it('succeeds, and its result is one that a model can read', async () => {
      const outcome = await tool.execute(args(), context());
      expect(outcome, textOf(outcome.content)).toMatchObject({ isError: false });
      expect(faultOf(outcome)).toBeNull();
    });

    it('answers hostile texts with a result, whatever field they are in', async () => {
      for (const hostile of hostileArguments(tool, args())) {
        expect(faultOf(await tool.execute(hostile, context())), JSON.stringify(hostile)).toBeNull();
      }
    });

    it.each(paths)('keeps to the workspace with %s', async (field) => {
      for (const path of HOSTILE_PATHS) {
        const outcome = await tool.execute({ ...args(), [field]: path }, context());
        expect(outcome, path).toMatchObject({ isError: true });
        const said = textOf(outcome.content);
        expect(said).toMatch(/^error: .+; /);
        expect(said).not.toContain(outside);
        expect(said).not.toContain('top secret');
      }
    });

    it('throws the reason of an abort, and nothing else', async () => {
      const reason = new Error('the run is cancelled');
      await expect(tool.execute(args(), context(AbortSignal.abort(reason)))).rejects.toBe(reason);
      const stopping = new AbortController();
      const running = tool.execute(args(), context(stopping.signal)).then(faultOf, (error: unknown) => error);
      stopping.abort(reason);
      expect([null, reason]).toContain(await running);
    });
  });
}

function compiled({ parameters }: BuiltinTool): (args: unknown) => boolean {
  const validate = new Ajv2020({ strict: true, allErrors: true }).compile(parameters);
  return (args) => validate(args);
}

/** Each argument left out where it is required, each of a wrong type, and one that nobody knows; with the field at fault. */
function* badArguments(tool: BuiltinTool, good: Arguments): Generator<readonly [field: string, bad: Arguments]> {
  for (const field of (tool.parameters['required'] ?? []) as readonly string[]) {
    const { [field]: _, ...rest } = good;
    yield [field, rest];
  }
  for (const field of fieldsOf(tool)) yield [field, { ...good, [field]: { of: 'a wrong type' } }];
  yield ['nobody_knows_this', { ...good, nobody_knows_this: 1 }];
}

/** Arguments that the tool takes, with something unpleasant in one of its texts. */
function hostileArguments(tool: ExecutableTool, good: Arguments): Arguments[] {
  const texts = fieldsOf(tool).flatMap((field) => HOSTILE_TEXTS.map((text) => ({ ...good, [field]: text })));
  return texts.filter((args) => tool.validate(args).ok);
}

function fieldsOf(tool: BuiltinTool): string[] {
  return Object.keys(tool.parameters['properties'] ?? {});
}

/** What is wrong with a result; null for one that a model can read. */
function faultOf({ content, isError, details }: ToolOutcome): string | null {
  if (!AgentToolResult.safeParse({ content, isError, details }).success) return 'it is no result';
  const text = textOf(content);
  if (text.trim() === '') return 'it says nothing';
  if (text.length > RESULT_CHARS) return `it has ${String(text.length)} characters`;
  return isError && !text.startsWith('error: ') ? `an error begins with ${text.slice(0, 20)}` : null;
}
