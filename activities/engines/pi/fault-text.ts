import { z } from 'zod';
import { faultText as sentenceOf } from '../fault-text.ts';

/** What a model's server answered, as pi quotes it: its status, and its error as JSON. */
const QUOTED = /^(\d{3}):? (\{.*\})$/s;
const Answer = z.object({ message: z.string().min(1) });

/** pi's own sentence of a failure, safe to show: one line, bounded, without an address and without what looks like a key. */
export function faultText(message: string | null | undefined): string {
  const [, status = '', json = ''] = QUOTED.exec(message ?? '') ?? [];
  const quoted = json === '' ? undefined : messageIn(json);
  return sentenceOf(quoted === undefined ? (message ?? '') : `${status}: ${quoted}`);
}

function messageIn(json: string): string | undefined {
  try {
    return Answer.safeParse(JSON.parse(json)).data?.message;
  } catch {
    return undefined;
  }
}
