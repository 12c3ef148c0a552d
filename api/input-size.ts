import { TidemarkError } from '../contract/errors.ts';
import { utf8Bytes } from '../contract/frames.ts';
import { INPUT_LIMIT_BYTES } from '../contract/rest.ts';

/** @throws TidemarkError `payload_too_large` */
export function assertInputSize(input: string): void {
  if (utf8Bytes(input) <= INPUT_LIMIT_BYTES) return;
  throw new TidemarkError(
    'payload_too_large',
    `input is over ${String(INPUT_LIMIT_BYTES)} bytes`,
    'Send less, or put the text into a file and have a tool read it.',
    { facts: { field: 'input', limit_bytes: INPUT_LIMIT_BYTES } },
  );
}
