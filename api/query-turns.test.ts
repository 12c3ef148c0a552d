import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Queryable } from '../infra/postgres/transaction.ts';
import { inTurns } from './query-turns.ts';

test('so many are asked at a time and no more, each gets its own answer, and a failure gives its turn back', async () => {
  let running = 0;
  let most = 0;
  const query = (async (text: string) => {
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
    if (text === 'bad') throw new Error('bad');
    return text;
  }) as unknown as Queryable['query'];
  const db = inTurns({ query }, 3);
  const asked = Array.from({ length: 20 }, (_, i) => (i % 4 === 0 ? 'bad' : `ask ${String(i)}`));
  const answers = await Promise.allSettled(asked.map((text) => db.query(text)));
  expect(most).toBe(3);
  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'bad'))).toEqual(asked);
});
