import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { FrameContext } from '../../../contract/translation.ts';
import { collaboration } from '../codex/children.ts';
import { Kept, type Item } from '../codex/codex-schema.ts';
import { toolCompleted, toolNameOf, toolStarted } from '../codex/tool-items.ts';
import { ItemEvent, TodoList, toolItemOf, type ExecItem } from './exec-schema.ts';
import { quiet, saying, type ExecState, type Step } from './translation-state.ts';

const SHOWN_CHARS = 2_000;

/** Items whose text a reader is shown as the agent's. */
export const TEXTS: ReadonlyMap<string, 'message' | 'reasoning'> = new Map([
  ['agent_message', 'message'],
  ['reasoning', 'reasoning'],
]);

export function itemStarted(state: ExecState, frame: NativeFrame, context: FrameContext): Step {
  const parsed = ItemEvent.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { item } = parsed.data;
  if (item.type === 'todo_list') return planOf(state, frame);
  const tool = toolOf(item, context);
  if (tool !== null) return saying(state, [toolStarted(tool.item, tool.name)]);
  return TEXTS.has(item.type) ? quiet(state, 'a text is said when it is whole') : { state, said: undefined };
}

/** What became of an item that is not over: the changes of a patch, the steps of a plan. */
export function itemProgressed(state: ExecState, frame: NativeFrame, context: FrameContext): Step {
  const parsed = ItemEvent.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { item } = parsed.data;
  if (item.type === 'todo_list') return planOf(state, frame);
  const tool = toolOf(item, context);
  if (tool === null) return { state, said: undefined };
  const preview = previewText(item.changes.map(({ path }) => path).join(', '), PREVIEW_LIMIT_CHARS);
  const progress: CanonicalBody[] =
    preview === '' ? [] : [{ kind: 'tool.progress', toolCallId: tool.item.id, preview }];
  return saying(state, [toolStarted(tool.item, tool.name), ...progress]);
}

export function itemCompleted(state: ExecState, frame: NativeFrame, context: FrameContext): Step {
  const parsed = ItemEvent.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { item } = parsed.data;
  if (item.type === 'todo_list') return planOf(state, frame);
  if (item.type === 'error') return saying(state, [warningOf(item)]);
  if (TEXTS.has(item.type)) return textCompleted(state, frame, { item, context });
  const tool = toolOf(item, context);
  if (tool === null) return { state, said: undefined };
  const kept = Kept.catch({}).parse(frame['kept'] ?? {});
  const bodies = toolCompleted(tool.item, tool.name, kept);
  if (item.type !== 'collab_tool_call') return saying(state, bodies);
  const agents = collaboration(state, tool.item);
  return saying(agents.state, [...agents.bodies, ...bodies]);
}

/** A part of a text that is too long for one frame; null for an item that has no text. */
export function pieceOf(
  { id, type }: Pick<ExecItem, 'id' | 'type'>,
  text: string,
  context: FrameContext,
): CanonicalBody | null {
  const kind = TEXTS.get(type);
  return kind === undefined ? null : { kind: `${kind}.delta`, messageId: idOf(id, context), text };
}

/** A text is whole. Where its frames before had it in pieces, it is not said again. */
function textCompleted(
  state: ExecState,
  frame: NativeFrame,
  { item, context }: { item: ExecItem; context: FrameContext },
): Step {
  const whole = frame['inPieces'] === true ? '' : item.text;
  if (whole === '' && frame['inPieces'] !== true) return quiet(state, 'an item without text');
  const text = whole === '' ? null : pieceOf(item, whole, context);
  const kind = TEXTS.get(item.type) ?? 'message';
  const messageId = idOf(item.id, context);
  return saying(state, [...(text === null ? [] : [text]), { kind: `${kind}.completed`, messageId }]);
}

/** A plan has no ids: an entry's is its place and its text. */
function planOf(state: ExecState, frame: NativeFrame): Step {
  const parsed = TodoList.safeParse((frame['params'] as { item?: unknown }).item);
  if (!parsed.success) return { state, said: undefined };
  const entries = parsed.data.items.flatMap(({ text, completed }, index) => {
    const status = completed ? ('completed' as const) : ('pending' as const);
    return text === '' ? [] : [{ id: `${String(index)}-${text}`, text, status }];
  });
  const plan = JSON.stringify(entries);
  if (entries.length === 0) return quiet(state, 'a plan without entries');
  if (plan === state.plan) return quiet(state, 'the plan as it was said');
  return saying({ ...state, plan }, [{ kind: 'plan.updated', entries }]);
}

/** What the engine warns of, and goes on. */
function warningOf({ type, message }: ExecItem): CanonicalBody {
  const text = message === '' ? 'the engine warns and does not say of what' : previewText(message, SHOWN_CHARS);
  return { kind: 'harness.warning', message: text, rawEventType: type };
}

function toolOf(item: ExecItem, context: FrameContext): { item: Item; name: string } | null {
  const tool = toolItemOf(item);
  const name = tool === null ? null : toolNameOf(tool);
  return tool === null || name === null ? null : { item: { ...tool, id: idOf(item.id, context) }, name };
}

/** The engine's own number of an item, with what makes it the only one of its name in a thread. */
function idOf(id: string, { runId, stepIndex }: FrameContext): string {
  return `${runId}.${String(stepIndex ?? 0)}.${id}`;
}
