import { listOf, recordOf, stringOf, type JsonRecord } from './untrusted-json.ts';

/**
 * A reasoning item of the Responses API as a thinking block's signature: the sealed item itself, so that it goes back as it
 * came. An item that is not sealed gives none: nothing is kept at the provider, so it could not be found again.
 */
export function signatureOf(item: JsonRecord): string {
  const sealed = stringOf(item['encrypted_content']);
  if (sealed === '') return '';
  const id = stringOf(item['id']);
  const summary = listOf(item['summary']);
  return JSON.stringify({ type: 'reasoning', ...(id === '' ? {} : { id }), summary, encrypted_content: sealed });
}

/** The item in a signature, or null where the signature is none of this API's. */
export function reasoningItemIn(signature: string | undefined): JsonRecord | null {
  if (signature === undefined || !signature.startsWith('{')) return null;
  try {
    const item = recordOf(JSON.parse(signature));
    return item?.['type'] === 'reasoning' ? item : null;
  } catch {
    return null;
  }
}
