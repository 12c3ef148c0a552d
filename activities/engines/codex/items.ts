import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { activity, collaboration } from './children.ts';
import { FileUpdate, Item, ItemMessage, Scope, type Kept } from './codex-schema.ts';
import { whyQuietItem } from './quiet-frames.ts';
import { TEXT_ITEMS, textCompleted, textStarted } from './text-items.ts';
import { toolCompleted, toolNameOf, toolStarted } from './tool-items.ts';
import { lastOf, quiet, saying, type CodexState, type Speaker, type Step } from './translation-state.ts';

const PATHS_REMEMBERED = 500;

export function itemStarted(state: CodexState, frame: NativeFrame, speaker: Speaker): Step {
  const parsed = ItemMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { item } = parsed.data;
  const why = whyQuietItem(item.type);
  if (why !== null) return quiet(state, why);
  if (Object.hasOwn(TEXT_ITEMS, item.type)) return textStarted(state, item, speaker);
  const name = toolNameOf(item);
  if (name !== null) return saying(state, [toolStarted(item, name)]);
  return MARKERS.has(item.type) ? quiet(state, 'said when it is done') : itemOfItsOwn(state, item);
}

export function itemCompleted(
  state: CodexState,
  frame: NativeFrame,
  { speaker, kept }: { speaker: Speaker; kept: Kept },
): Step {
  const parsed = ItemMessage.safeParse(frame['params']);
  if (!parsed.success) return { state, said: undefined };
  const { item } = parsed.data;
  const why = whyQuietItem(item.type);
  if (why !== null) return quiet(state, why);
  if (Object.hasOwn(TEXT_ITEMS, item.type)) return textCompleted(state, item, speaker);
  const name = toolNameOf(item);
  if (name === null) return itemOfItsOwn(state, item);
  const bodies = toolCompleted(item, name, kept);
  if (item.type === 'collabAgentToolCall') {
    const agents = collaboration(state, item);
    return saying(agents.state, [...agents.bodies, ...bodies]);
  }
  const paths = bodies.flatMap((body) => (body.kind === 'file.changed' ? [body.path] : []));
  return saying({ ...state, changedPaths: lastOf([...state.changedPaths, ...paths], PATHS_REMEMBERED) }, bodies);
}

const MARKERS: ReadonlySet<string> = new Set(['contextCompaction', 'enteredReviewMode', 'exitedReviewMode']);

function itemOfItsOwn(state: CodexState, item: Item): Step {
  switch (item.type) {
    case 'subAgentActivity':
      return activity(state, item);
    case 'contextCompaction':
      return saying(state, [compacted(item)]);
    case 'enteredReviewMode':
      return saying(state, [{ kind: 'mode.updated', mode: 'review' }]);
    case 'exitedReviewMode':
      return saying(state, [{ kind: 'mode.updated', mode: 'default' }]);
    default:
      return { state, said: undefined };
  }
}

function compacted({ type: sourceEventType }: Item): CanonicalBody {
  return { kind: 'context.marker', markerType: 'memory', title: 'the conversation was compacted', sourceEventType };
}

const Output = z.object({ itemId: z.string().min(1), delta: z.string() });
const Patch = z.object({ itemId: z.string().min(1), changes: z.array(FileUpdate).catch([]) });
const Progress = z.object({ itemId: z.string().min(1), message: z.string().catch('') });

/** What a tool tells while it works. */
export function itemProgressed(state: CodexState, frame: NativeFrame): Step {
  switch (frame.type) {
    case 'item/commandExecution/outputDelta': {
      const output = Output.safeParse(frame['params']).data;
      if (output === undefined) return { state, said: undefined };
      const { itemId: terminalId, delta: chunk } = output;
      return saying(state, chunk === '' ? [] : [{ kind: 'terminal.output', terminalId, chunk }], 'no output');
    }
    case 'item/fileChange/patchUpdated': {
      const patch = Patch.safeParse(frame['params']).data;
      if (patch === undefined) return { state, said: undefined };
      return progress(state, patch.itemId, patch.changes.map(({ path }) => path).join(', '));
    }
    default: {
      const told = Progress.safeParse(frame['params']).data;
      return told === undefined ? { state, said: undefined } : progress(state, told.itemId, told.message);
    }
  }
}

function progress(state: CodexState, toolCallId: string, text: string): Step {
  const preview = previewText(text, PREVIEW_LIMIT_CHARS);
  return saying(state, preview === '' ? [] : [{ kind: 'tool.progress', toolCallId, preview }], 'no news of the tool');
}

/** The platform asks; here only the tool is said, for the case that it was not. */
export function approvalAsked(state: CodexState, frame: NativeFrame): Step {
  const itemId = Scope.safeParse(frame['params']).data?.itemId;
  if (itemId == null || itemId === '') return quiet(state, 'the platform asks');
  const type = frame.type === 'item/fileChange/requestApproval' ? 'fileChange' : 'commandExecution';
  const params = frame['params'] as Readonly<Record<string, unknown>>;
  const item = Item.parse({ ...params, id: itemId, type });
  return saying(state, [toolStarted(item, toolNameOf(item) ?? 'tool')]);
}
