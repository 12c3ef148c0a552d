import type { Response } from 'undici';
import { ToolFault } from './tool.ts';

const TEXT_TYPE =
  /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml)\b|application\/(x-ndjson|javascript|ecmascript|x-yaml|toml|x-www-form-urlencoded)\b|image\/svg\+xml\b|message\/)/;

/**
 * The text of a response, at most `limitBytes` of it; the rest is not received.
 *
 * @throws ToolFault for what is not text, by its type or by its bytes.
 */
export async function readTextBody(response: Response, limitBytes: number): Promise<{ text: string; isCut: boolean }> {
  const type = (response.headers.get('content-type') ?? '').trim().toLowerCase();
  if (type !== '' && !TEXT_TYPE.test(type)) {
    throw new ToolFault(`the page is ${type.slice(0, 100)}, not text; only text can be fetched`);
  }
  const { bytes, isCut } = await take(response, limitBytes);
  if (bytes.includes(0) && !/utf-?16/.test(type)) throw new ToolFault('the page is not text, though its type says so');
  return { text: decoderOf(type).decode(bytes).toWellFormed(), isCut };
}

/** Counts what comes out of decompression, so that a small answer cannot grow without bound. */
async function take(response: Response, limitBytes: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const piece = chunk as Uint8Array;
    chunks.push(piece.subarray(0, limitBytes - size));
    size += piece.byteLength;
    if (size > limitBytes) return { bytes: Buffer.concat(chunks), isCut: true };
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}

function decoderOf(type: string): TextDecoder {
  const label = /charset="?([\w-]+)/.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    throw new ToolFault(`the page is written in ${label}, which cannot be read`);
  }
}
