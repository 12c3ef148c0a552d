import type { ByteSpan } from '../infra/postgres/artifact.ts';

/**
 * What a `Range` header asks of `bytes` bytes (RFC 9110, 14.2): a span, `unsatisfiable`, or null for the whole.
 *
 * **Contract:** one range is served. Another unit, several ranges and what is no range at all are left aside, as the RFC says:
 * the answer is then the whole.
 */
export function byteRange(header: string | undefined, bytes: number): ByteSpan | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const wanted = Number(to);
    if (wanted === 0 || bytes === 0) return 'unsatisfiable';
    return { first: Math.max(bytes - wanted, 0), last: bytes - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= bytes) return 'unsatisfiable';
  return { first, last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
}
