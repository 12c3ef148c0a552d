import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { previewInput, PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { SHELL_TOOLS } from './pi-frames.ts';
import { Kept, textOf, ToolFrame } from './pi-schema.ts';
import { keyOf, quiet, saying, unread, type PiState, type Step } from './translation-state.ts';

const TITLE_CHARS = 300;
const ERROR_CHARS = 500;
/** The argument that tells best what a tool is to do. */
const TITLES = ['command', 'path', 'pattern', 'question'];
/** pi's tools that change files. A `write` is for new ones; what it really did the driver knows (`Kept`). */
const FILE_TOOLS: Readonly<Record<string, 'create' | 'edit'>> = { write: 'create', edit: 'edit' };

export function toolStarted(call: { toolCallId: string; toolName: string; args: unknown }): CanonicalBody {
  const { toolCallId, toolName, args } = call;
  const fields = typeof args === 'object' && args !== null ? (args as Readonly<Record<string, unknown>>) : {};
  const title = TITLES.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '');
  return {
    kind: 'tool.started',
    toolCallId,
    name: toolName === '' ? 'tool' : toolName,
    ...(typeof title === 'string' ? { title: previewText(title, TITLE_CHARS) } : {}),
    ...(args === undefined ? {} : { input: previewInput(args) }),
  };
}

export function toolBegun(state: PiState, frame: NativeFrame): Step {
  const parsed = ToolFrame.safeParse(frame);
  if (!parsed.success) return unread(state);
  const { toolCallId, args } = parsed.data;
  const path = args['path'];
  const tools = { ...state.tools, [keyOf(toolCallId)]: { path: typeof path === 'string' ? path : '' } };
  return saying({ ...state, tools }, [toolStarted(parsed.data)]);
}

export function toolUpdated(state: PiState, frame: NativeFrame): Step {
  const parsed = ToolFrame.safeParse(frame);
  if (!parsed.success) return unread(state);
  const { toolCallId, toolName, output } = parsed.data;
  if (output === '') return quiet(state, 'no news of the tool');
  const body: CanonicalBody = SHELL_TOOLS.has(toolName)
    ? { kind: 'terminal.output', terminalId: toolCallId, chunk: output }
    : { kind: 'tool.progress', toolCallId, preview: previewText(output, PREVIEW_LIMIT_CHARS) };
  return saying(state, [body]);
}

/** The end of a tool and what it left: a long output as an artifact, the file that it changed, a list of tasks. */
export function toolEnded(state: PiState, frame: NativeFrame): Step {
  const parsed = ToolFrame.safeParse(frame);
  if (!parsed.success) return unread(state);
  const { toolCallId, toolName, isError, durationMs, result } = parsed.data;
  const kept = Kept.catch({}).parse(frame['kept'] ?? {});
  const text = textOf(result.content);
  const { [keyOf(toolCallId)]: begun, ...tools } = state.tools;
  const completed: CanonicalBody = {
    kind: 'tool.completed',
    toolCallId,
    status: isError ? 'error' : 'ok',
    ...(text === '' ? {} : { preview: previewText(text, PREVIEW_LIMIT_CHARS) }),
    ...(kept.output === undefined ? {} : { artifact: kept.output.artifact }),
    ...(isError ? { error: faultOf(text) } : {}),
    ...(durationMs == null ? {} : { durationMs }),
  };
  const created: CanonicalBody[] = kept.output === undefined ? [] : [{ kind: 'artifact.created', ...kept.output }];
  const left = isError ? [] : [...changesOf(toolName, begun?.path ?? '', kept), ...planOf(toolName, result.details)];
  return saying({ ...state, tools }, [toolStarted(parsed.data), completed, ...created, ...left]);
}

/** What the driver saw; where it saw nothing, what the tool names. */
function changesOf(toolName: string, named: string, { changes }: Kept): CanonicalBody[] {
  if (changes !== undefined) {
    return changes.map(({ path, changeType, diff }) => {
      return { kind: 'file.changed', path, changeType, ...(diff === undefined ? {} : { diff: diff.artifact }) };
    });
  }
  const changeType = Object.hasOwn(FILE_TOOLS, toolName) ? FILE_TOOLS[toolName] : undefined;
  return changeType === undefined || named === '' ? [] : [{ kind: 'file.changed', path: named, changeType }];
}

/** pi has no plan of its own: this is what the tool `todo` of its examples gives. */
const Todos = z.object({
  todos: z
    .array(z.object({ id: z.union([z.string(), z.number()]), text: z.string().min(1), done: z.boolean() }))
    .min(1),
});
export const PLAN_TOOL = 'todo';

function planOf(toolName: string, details: unknown): CanonicalBody[] {
  const todos = toolName === PLAN_TOOL ? Todos.safeParse(details).data?.todos : undefined;
  if (todos === undefined) return [];
  const entries = todos.map(({ id, text, done }) => {
    return { id: String(id), text, status: done ? ('completed' as const) : ('pending' as const) };
  });
  return [{ kind: 'plan.updated', entries }];
}

/** A tool says what went wrong behind what it printed. */
function faultOf(text: string): string {
  const last =
    text
      .trim()
      .split(/\n{2,}/)
      .at(-1) ?? '';
  return last === '' ? 'failed' : previewText(last, ERROR_CHARS);
}
