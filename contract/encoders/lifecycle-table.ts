/** What is known by id, as plain JSON. Ids come from outside: `__proto__` and `constructor` are ids like any other. */
export type Table<Value> = Readonly<Record<string, Value>>;

export function find<Value>(table: Table<Value>, id: string): Value | undefined {
  return Object.hasOwn(table, id) ? table[id] : undefined;
}

export function put<Value>(table: Table<Value>, id: string, value: Value): Table<Value> {
  return { ...table, [id]: value };
}

export function drop<Value>(table: Table<Value>, id: string): Table<Value> {
  if (!Object.hasOwn(table, id)) return table;
  const rest = { ...table };
  delete rest[id];
  return rest;
}
