import { z } from 'zod';
import type { AgentToolResult, Tool } from '../../../../contract/agent-messages.ts';
import type { Agent } from '../../../../contract/extensions/bus-event.ts';
import type { EngineProcess, EngineProcessOptions } from '../../process/engine-process.ts';
import { validateBy, type Validated } from './validated.ts';

/** Bounds of what a tool reads, writes and says. */
export interface ToolLimits {
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly listEntries: number;
  readonly fetchBytes: number;
  readonly fetchTimeoutMs: number;
  /** Of a fetched page, what the model is shown. */
  readonly fetchChars: number;
  /** Of a search: files looked at, the bytes of one and of all, lines found, and its time. */
  readonly searchFiles: number;
  readonly searchFileBytes: number;
  readonly searchBytes: number;
  readonly searchMatches: number;
  readonly searchTimeoutMs: number;
  /** A command's time where the model names none, and the most that it may name. */
  readonly shellTimeoutMs: number;
  readonly shellMaxTimeoutMs: number;
  /** Of a command's output, what the model is shown, and what is kept for a person. */
  readonly shellChars: number;
  readonly shellKeptBytes: number;
  /** Resident memory of a command's processes together. */
  readonly shellMemoryMb: number;
  readonly artifactBytes: number;
}

export const DEFAULT_LIMITS: ToolLimits = {
  readBytes: 256 * 1024,
  writeBytes: 1024 * 1024,
  listEntries: 1_000,
  fetchBytes: 1024 * 1024,
  fetchTimeoutMs: 20_000,
  fetchChars: 100_000,
  searchFiles: 20_000,
  searchFileBytes: 2 * 1024 * 1024,
  searchBytes: 128 * 1024 * 1024,
  searchMatches: 200,
  searchTimeoutMs: 10_000,
  shellTimeoutMs: 120_000,
  shellMaxTimeoutMs: 600_000,
  shellChars: 30_000,
  shellKeptBytes: 4 * 1024 * 1024,
  shellMemoryMb: 2_048,
  artifactBytes: 16 * 1024 * 1024,
};

export interface ToolContext {
  /** The run that calls. */
  readonly agent: Agent;
  readonly toolCallId: string;
  /** The run's own folder, an absolute path; made on first use. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** `host:port` pairs that may be fetched though their addresses are private. */
  readonly fetchAllow: readonly string[];
  readonly limits: ToolLimits;
  /** Starts a process for this call: bounded in memory, never outliving the worker. The tool ends it by its `kill`. */
  readonly start: (options: Pick<EngineProcessOptions, 'command' | 'cwd' | 'env'>) => EngineProcess;
  /** Shows what the tool prints, while it runs; the result holds it again. */
  readonly print: (text: string) => void;
  /** The id under which content is kept as an artifact of the run. */
  readonly artifactIdOf: (content: Buffer) => string;
}

interface Described extends Tool {
  readonly label: string;
  readonly approval: 'never' | 'always';
  /** Safe to run again after an attempt died without a result. */
  readonly repeatable: boolean;
  /** May run beside other calls of the same message. */
  readonly parallelSafe: boolean;
  /** Checks a call's arguments; the error tells the model which field is at fault. */
  validate(args: unknown): Validated;
  /** What a call would do, for the person who approves it: one line, at most 200 characters. */
  describe(args: unknown): string;
}

/**
 * A tool that runs here.
 *
 * **Contract:** `execute` takes arguments that `schema` accepts and never throws, except when `signal` aborts: what goes
 * wrong is a result with `isError`, whose text tells the model what to do.
 */
export interface ExecutableTool extends Described {
  readonly kind: 'execute';
  execute(args: unknown, context: ToolContext): Promise<ToolOutcome>;
}

/** A tool that a person answers; there is nothing to execute. */
export interface QuestionTool extends Described {
  readonly kind: 'question';
  question(args: unknown): { readonly prompt: string; readonly options: readonly string[] };
}

/** What a call delegates to a sub-agent; what is left out is as the caller has it. */
export interface DelegatedTask {
  readonly task: string;
  readonly name?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly model?: string | undefined;
}

/** A tool that a sub-agent does: a workflow of its own. */
export interface DelegateTool extends Described {
  readonly kind: 'delegate';
  delegation(args: unknown): DelegatedTask;
}

/** What a tool came to beside what the model sees: each is kept as an artifact of the run. */
export interface ToolAside {
  /** The unified diff of the file that it changed. */
  readonly diff?: string;
  /** The whole output, where the result's text is a part of it. */
  readonly output?: Buffer;
  /** What the tool was asked to keep. */
  readonly saved?: { readonly name: string; readonly contentType: string; readonly content: Buffer };
}

export type ToolOutcome = AgentToolResult & ToolAside;

export type BuiltinTool = ExecutableTool | QuestionTool | DelegateTool;

/** The tools that a run can call, by name. */
export interface Tools {
  get(name: string): BuiltinTool | undefined;
  values(): Iterable<BuiltinTool>;
}

interface Spec<Schema extends z.ZodType> extends Omit<Described, 'validate' | 'parameters' | 'describe'> {
  readonly schema: Schema;
  readonly describe: (args: z.infer<Schema>) => string;
}

export function executableTool<Schema extends z.ZodType>(
  spec: Spec<Schema> & { readonly execute: (args: z.infer<Schema>, context: ToolContext) => Promise<ToolOutcome> },
): ExecutableTool {
  const { schema, execute } = spec;
  return {
    ...described(spec),
    kind: 'execute',
    async execute(args, context) {
      context.signal.throwIfAborted();
      try {
        return await execute(schema.parse(args), context);
      } catch (error) {
        context.signal.throwIfAborted();
        return failed(error instanceof ToolFault ? error.message : `tool ${spec.name} failed: ${nameOf(error)}`);
      }
    },
  };
}

export function questionTool<Schema extends z.ZodType>(
  spec: Spec<Schema> & {
    readonly question: (args: z.infer<Schema>) => { readonly prompt: string; readonly options: readonly string[] };
  },
): QuestionTool {
  return { ...described(spec), kind: 'question', question: (args) => spec.question(spec.schema.parse(args)) };
}

export function delegateTool<Schema extends z.ZodType>(
  spec: Spec<Schema> & { readonly delegation: (args: z.infer<Schema>) => DelegatedTask },
): DelegateTool {
  return { ...described(spec), kind: 'delegate', delegation: (args) => spec.delegation(spec.schema.parse(args)) };
}

/** What a tool could not do, in words for the model. */
export class ToolFault extends Error {}

export function succeeded(text: string, details?: unknown): AgentToolResult {
  return { content: [{ type: 'text', text }], isError: false, ...(details === undefined ? {} : { details }) };
}

export function failed(reason: string): AgentToolResult {
  return { content: [{ type: 'text', text: `error: ${reason}` }], isError: true };
}

/** A system error's code or an error's class: its message may hold paths of this machine. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function described<Schema extends z.ZodType>(spec: Spec<Schema>): Described {
  const { $schema: _, ...parameters } = z.toJSONSchema(spec.schema, { io: 'input' });
  const { name, label, description, schema, approval, repeatable, parallelSafe } = spec;
  const describe = (args: unknown) => oneLine(spec.describe(schema.parse(args)));
  const validate = (args: unknown) => validateBy(schema, name, args);
  return { name, label, description, parameters, validate, approval, repeatable, parallelSafe, describe };
}

/** A text as one line of at most 200 characters. */
export function oneLine(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
}
