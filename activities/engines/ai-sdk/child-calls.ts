import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { shownValue } from '../hosted/shown-value.ts';

/** The library has no sub-agents of its own: a tool runs one, and is named for it. */
const NAMED_FOR_A_CHILD = /sub[-_]?agent/i;

const text = z.string().optional().catch(undefined);
const Task = z.object({ task: text, prompt: text, description: text });
/** What the sub-agent has said so far: a message of the library's chat, or an object with a text. */
const Message = z.object({
  role: z.literal('assistant'),
  parts: z.array(z.object({ type: z.string(), text })),
});
const Progress = z.object({ status: text, text });

export function isChildCall(toolName: string, output?: unknown): boolean {
  return NAMED_FOR_A_CHILD.test(toolName) || Message.safeParse(output).success;
}

/** The child's id is that of the call that it works for. */
export function childStarted(childId: string, { name, input }: { name: string; input?: unknown }): CanonicalBody {
  const { task, prompt = task, description } = Task.safeParse(input).data ?? {};
  const asked = prompt ?? description ?? (typeof input === 'string' ? input : undefined);
  const state = asked === undefined ? {} : { state: { prompt: previewText(asked, PREVIEW_LIMIT_CHARS) } };
  return { kind: 'child.started', childId, launchToolCallId: childId, title: name, ...state };
}

export function childUpdated(childId: string, output: unknown): CanonicalBody {
  const status = Progress.safeParse(output).data?.status ?? 'running';
  const summary = childText(output);
  return { kind: 'child.updated', childId, status, ...(summary === '' ? {} : { state: { summary } }) };
}

export function childCompleted(childId: string, end: { status: 'ok' | 'error'; output: unknown }): CanonicalBody {
  const result = childText(end.output);
  return { kind: 'child.completed', childId, status: end.status, ...(result === '' ? {} : { result }) };
}

function childText(output: unknown): string {
  const message = Message.safeParse(output).data;
  const texts = message?.parts.flatMap((part) => (part.type === 'text' ? (part.text ?? []) : []));
  return shownValue(texts?.join('\n') ?? Progress.safeParse(output).data?.text ?? output);
}
