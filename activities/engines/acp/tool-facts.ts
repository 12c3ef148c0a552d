import type { ToolFacts } from './acp-state.ts';
import type { ToolUpdate } from './acp-schema.ts';
import { toolNameOf } from './tool-name.ts';
import { previewInput } from '../../../contract/platform-frames.ts';

/** What is known of a tool call after a frame, before anything of that frame is said. */
export function mergedFacts(known: ToolFacts | undefined, update: ToolUpdate, owner: string | null): ToolFacts {
  const { title, kind, rawInput } = update;
  if (known === undefined) {
    return {
      name: toolNameOf(update),
      title: title ?? null,
      kind: kind ?? null,
      owner,
      phase: 'held',
      input: rawInput == null ? null : previewInput(rawInput),
      shown: '',
      status: null,
      files: [],
      written: [],
      child: null,
      plan: '',
    };
  }
  return {
    ...known,
    title: title ?? known.title,
    kind: kind ?? known.kind,
    input: rawInput == null ? known.input : previewInput(rawInput),
  };
}

/** A call whose input the engine is still writing: it comes with none and is patched. */
export function isBeingWritten({ status, rawInput }: ToolUpdate): boolean {
  if ((status ?? 'pending') !== 'pending' || typeof rawInput !== 'object' || rawInput === null) return false;
  return Object.keys(rawInput).every((key) => key === 'cwd');
}

/** What stays of a call that has ended: enough to know its late frames by. */
export function endedFacts(facts: ToolFacts): ToolFacts {
  return { ...facts, phase: 'done', title: null, input: null, shown: '', files: [], written: [], plan: '' };
}
