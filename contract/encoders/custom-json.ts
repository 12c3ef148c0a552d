/** How a string is written: its JSON text, quotes included. */
type WriteText = (text: string) => string;

/** JSON as Python's `json.dumps` writes it by default: `", "` and `": "`, all but ASCII escaped. */
export function asciiJson(value: unknown): string {
  return write(value, asciiText);
}

/** The same with `ensure_ascii=False`: text as it is; only a lone surrogate stays escaped, since UTF-8 has none. */
export function spacedJson(value: unknown): string {
  return write(value, (text) => JSON.stringify(text));
}

/** DEL is escaped too: Python escapes what is not between space and `~`. */
function asciiText(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function write(value: unknown, text: WriteText): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return pythonNumber(value);
  if (Array.isArray(value)) return `[${value.map((item) => write(item ?? null, text)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${text(key)}: ${write(member, text)}`);
  }
  return `{${members.join(', ')}}`;
}

/** Both languages print the shortest digits that read back the same; they differ in when the exponent begins, and in its form. */
function pythonNumber(value: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 1e-4;
  return isSmall ? value.toExponential().replace(/e-(\d)$/, 'e-0$1') : JSON.stringify(value);
}
