/** Neither OpenAI nor Anthropic takes these at the top of a tool's parameters, and one such tool would make every call fail. */
const NOT_AT_THE_TOP = new Set([
  '$schema',
  '$id',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'enum',
  'const',
  'if',
  'then',
  'else',
]);
const DEPTH_LIMIT = 64;

/**
 * A tool's parameters as a model is shown them: the server's schema, in the form that every model API takes. Calls are checked by
 * the server's own.
 */
export function shownSchema(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !NOT_AT_THE_TOP.has(keyword)));
  const properties = isRecord(kept['properties']) ? kept['properties'] : {};
  return withItems({ ...kept, type: 'object', properties }, 0) as Record<string, unknown>;
}

/** A schema for a tool whose own cannot be used. */
export const ANY_ARGUMENTS: Readonly<Record<string, unknown>> = { type: 'object', properties: {} };

/** An array says what it holds: OpenAI takes none that does not. */
function withItems(schema: unknown, depth: number): unknown {
  if (depth > DEPTH_LIMIT) return schema;
  if (Array.isArray(schema)) return schema.map((each) => withItems(each, depth + 1));
  if (!isRecord(schema)) return schema;
  const mapped = Object.entries(schema).map(([key, value]) => [
    key,
    isLiteral(key) ? value : withItems(value, depth + 1),
  ]);
  const isBareArray = schema['type'] === 'array' && schema['items'] === undefined;
  return { ...(Object.fromEntries(mapped) as Record<string, unknown>), ...(isBareArray ? { items: {} } : {}) };
}

/** Holds values, not schemas. */
function isLiteral(keyword: string): boolean {
  return keyword === 'const' || keyword === 'enum' || keyword === 'default' || keyword === 'examples';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
