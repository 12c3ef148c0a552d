import type { z } from 'zod';
import { pageOf } from './resources.ts';
import type { ApiRequest, Transport } from './transport.ts';

/** Every item of a list, a page at a time, as they are asked for. */
export async function* everyItem<Item extends z.ZodType>(
  transport: Transport,
  item: Item,
  request: Omit<ApiRequest, 'method'>,
): AsyncGenerator<z.output<Item>, void, undefined> {
  const page = pageOf(item);
  let cursor: string | undefined;
  do {
    const query = { ...request.query, ...(cursor === undefined ? {} : { cursor }) };
    const { data, next_cursor: next } = await transport.json(page, { ...request, method: 'GET', query });
    yield* data as z.output<Item>[];
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}
