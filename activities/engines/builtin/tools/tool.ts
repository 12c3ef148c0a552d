import { z } from 'zod';
import type { AgentToolResult, Tool } from '../../../../contract/agent-messages.ts';

/** Bounds of what a tool reads, writes and says. */
export interface ToolLimits {
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly listEntries: number;
  readonly fetchBytes: number;
  readonly fetchTimeoutMs: number;
  /** Of a fetched page, what the model is shown. */
  readonly fetchChars: number;
}

export const DEFAULT_LIMITS: ToolLimits = {
  readBytes: 256 * 1024,
  writeBytes: 1024 * 1024,
  listEntries: 1_000,
  fetchBytes: 1024 * 1024,
  fetchTimeoutMs: 20_000,
  fetchChars: 100_000,
};

export interface ToolContext {
  /** The run's own folder, an absolute path; made on first use. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** `host:port` pairs that may be fetched though their addresses are private. */
  readonly fetchAllow: readonly string[];
  readonly limits: ToolLimits;
}

interface Described extends Tool {
  readonly label: string;
  readonly schema: z.ZodType;
  readonly approval: 'never' | 'always';
  /** Safe to run again after an attempt died without a result. */
  readonly repeatable: boolean;
  /** May run beside other calls of the same message. */
  readonly parallelSafe: boolean;
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

/** What a tool came to; `diff` is the unified diff of the file that it changed, which the model does not see. */
export type ToolOutcome = AgentToolResult & { readonly diff?: string };

export type BuiltinTool = ExecutableTool | QuestionTool | DelegateTool;

interface Spec<Schema extends z.ZodType> extends Omit<Described, 'schema' | 'parameters' | 'describe'> {
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
  return { name, label, description, parameters, schema, approval, repeatable, parallelSafe, describe };
}

function oneLine(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
}
