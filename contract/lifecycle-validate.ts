import * as limit from './lifecycle-limits.ts';
import { LifecycleEvent } from './lifecycle.ts';
import { jsonProblem } from './sanitize.ts';
import type { z } from 'zod';

export type Validated =
  | { readonly ok: true; readonly event: LifecycleEvent }
  /** `rule` is 11 where a limit was passed; null where the value is no lifecycle v1 event at all. `reason` quotes no value. */
  | { readonly ok: false; readonly rule: 11 | null; readonly reason: string };

const EVENT_BOUNDS = {
  depth: limit.EVENT_DEPTH_LIMIT,
  items: limit.EVENT_ITEMS_LIMIT,
  keyChars: limit.JSON_KEY_LIMIT_CHARS,
  stringChars: Math.max(limit.JSON_STRING_LIMIT_CHARS, limit.DELTA_LIMIT_CHARS),
};

/**
 * What came from outside as a lifecycle event: strict schema, every limit, and nothing but safe JSON. An adapter's value goes
 * through it as it is yielded, and again at the coordinator.
 *
 * **Contract:** never throws, whatever the value is.
 */
export function validateLifecycleEvent(value: unknown): Validated {
  const problem = jsonProblem(value, EVENT_BOUNDS);
  if (problem !== null) return { ok: false, rule: problem.isLimit ? 11 : null, reason: `the event ${problem.reason}` };
  const parsed = LifecycleEvent.safeParse(value);
  if (parsed.success) return { ok: true, event: parsed.data };
  const issue = parsed.error.issues[0];
  if (issue === undefined) return { ok: false, rule: null, reason: 'the event is invalid' };
  return { ok: false, rule: isLimit(issue) ? 11 : null, reason: `${fieldOf(issue.path)} ${saidOf(issue)}` };
}

function isLimit(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'too_big') return true;
  if (issue.code === 'custom') return issue.params?.['limit'] === true;
  return issue.code === 'invalid_union' && issue.errors.some((branch) => branch.some(isLimit));
}

/** Members whose names are the sender's own; a path is shown up to them. */
const OPEN_MEMBERS: ReadonlySet<PropertyKey> = new Set(['arguments', 'tool_args', 'details', 'metadata']);

function fieldOf(path: readonly PropertyKey[]): string {
  const open = path.findIndex((element) => OPEN_MEMBERS.has(element));
  const known = open < 0 ? path : path.slice(0, open + 1);
  return known.length === 0 ? 'the event' : known.map(String).join('.');
}

/** zod's own messages quote unknown keys and expected values; these quote nothing that was sent. */
function saidOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'has a field that v1 does not know';
    case 'too_big':
      return `is over its limit of ${String(issue.maximum)}`;
    case 'too_small':
      return `is under its minimum of ${String(issue.minimum)}`;
    case 'custom':
      return issue.message;
    case 'invalid_type':
      return `is not ${issue.expected === 'array' ? 'an array' : `of type ${issue.expected}`}, or is missing`;
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_union':
    case 'invalid_value':
    case 'not_multiple_of':
      return 'is not valid';
  }
}
