/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Members that are `undefined` are left out, as JSON does.
 *
 * @throws Error for what JSON cannot say: NaN, infinities, bigint, functions, cycles.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`canonical JSON has no ${String(value)}`);
    return String(value);
  }
  if (Array.isArray(value)) {
    let items = '';
    for (const item of value as unknown[]) items += `${items === '' ? '' : ','}${canonicalJson(item ?? null)}`;
    return `[${items}]`;
  }
  if (typeof value === 'object') {
    const record = value as Record<string, unknown>;
    let members = '';
    // without a comparator strings are sorted by UTF-16 code units, as RFC 8785 asks
    for (const key of Object.keys(record).toSorted()) {
      const member = record[key];
      if (member !== undefined)
        members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
    }
    return `{${members}}`;
  }
  throw new Error(`canonical JSON has no ${typeof value}`);
}
