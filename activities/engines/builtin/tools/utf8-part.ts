/** Where the whole UTF-8 characters of a part begin and end; each of its ends may cut one. */
export function wholeCharacters(
  bytes: Buffer,
  isCutBefore: boolean,
  isCutAfter: boolean,
): { start: number; end: number } {
  let start = 0;
  if (isCutBefore) while (start < 3 && isContinuation(bytes[start])) start++;
  const end = bytes.length;
  if (!isCutAfter) return { start, end };
  let lead = end - 1;
  while (lead > start && end - lead < 4 && isContinuation(bytes[lead])) lead--;
  return { start, end: lengthOf(bytes[lead]) > end - lead ? lead : end };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function lengthOf(lead: number | undefined): number {
  if (lead === undefined || lead < 0xc0) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}
