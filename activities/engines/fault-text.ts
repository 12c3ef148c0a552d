import { beginningOf, safeText } from './builtin/providers/safe-text.ts';

/** Where the model is asked is the operator's affair: the engine names it in what it says of a failure. */
const NAMED_ADDRESS = /,?\s*\burl: https?:\/\/[^\s,;"'<>()[\]{}]+/gi;
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s,;"'<>()[\]{}]+/gi;

/**
 * The engine's own sentence of a failure; of an answer of the model's server, the sentence in it.
 *
 * **Contract:** safe to show: one line, bounded, without an address and without what looks like a key.
 */
export function faultText(message: string | undefined): string {
  const text = beginningOf(sentenceIn(message ?? '') ?? message ?? '');
  const safe = safeText(text.replace(NAMED_ADDRESS, '').replace(ADDRESS, '[address]'), []);
  return safe === '' ? 'the engine gives no reason' : safe;
}

function sentenceIn(text: string): string | null {
  if (!text.startsWith('{')) return null;
  try {
    const sentence = (JSON.parse(text) as { error?: { message?: unknown } | null }).error?.message;
    return typeof sentence === 'string' && sentence !== '' ? sentence : null;
  } catch {
    return null;
  }
}
