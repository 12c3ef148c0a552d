import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { PlanEntries } from './acp-schema.ts';

const ENTRIES_LIMIT = 100;
const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;

/** The whole plan as one event; null when no entry has a text. */
export function planOf(entries: unknown): CanonicalBody<'plan.updated'> | null {
  const parsed = PlanEntries.safeParse(entries);
  if (!parsed.success) return null;
  const said = parsed.data.slice(0, ENTRIES_LIMIT).flatMap(({ id, content, description, status }, index) => {
    const text = previewText((content ?? description ?? '').trim(), PREVIEW_LIMIT_CHARS);
    if (text === '') return [];
    return [
      { id: id ?? `${String(index)}-${text}`, text, status: STATUSES.find((known) => known === status) ?? 'pending' },
    ];
  });
  return said.length === 0 ? null : { kind: 'plan.updated', entries: said };
}

/** The plan in the input of a tool that keeps one (OpenCode's `todowrite` tells of it in no other way). */
export function planOfInput(rawInput: unknown): CanonicalBody<'plan.updated'> | null {
  return typeof rawInput === 'object' && rawInput !== null && 'todos' in rawInput ? planOf(rawInput.todos) : null;
}
