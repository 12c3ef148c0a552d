import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { TidemarkError } from '../contract/errors.ts';
import { TASK_QUEUE } from '../contract/messages.ts';
import { createLogger } from '../infra/log.ts';
import { typedFailures } from './failures.ts';

const log = createLogger({ logLevel: 'silent' }, 'test');

async function failureOf(error: unknown, attempt = 1): Promise<ApplicationFailure> {
  const info = { isLocal: false, taskQueue: TASK_QUEUE.engine, attempt };
  try {
    await typedFailures(log, info).execute?.({ args: ['run_1'], headers: {} }, () => {
      throw error;
    });
  } catch (caught) {
    return caught as ApplicationFailure;
  }
  throw new Error('it did not fail');
}

describe('what Temporal records of a failed activity', () => {
  it('is a code and a fixed sentence, never the error’s own words', async () => {
    const failure = await failureOf(new Error('canary: the prompt was "secret"'));
    expect(failure).toMatchObject({ type: 'internal', nonRetryable: false, message: 'failed: internal' });
    expect(JSON.stringify(failure)).not.toContain('canary');
    expect(failure.cause).toBeUndefined();
  });

  it('says whether another attempt is of use, by the code', async () => {
    const gone = new TidemarkError('run_not_found', 'there is no such run', 'check');
    expect(await failureOf(gone)).toMatchObject({ type: 'run_not_found', nonRetryable: true });
    const away = new TidemarkError('unavailable', 'the database is away', 'wait');
    expect(await failureOf(away)).toMatchObject({ type: 'unavailable', nonRetryable: false });
  });

  it('ends engine work that failed five times by itself, and none because the database is away', async () => {
    expect(await failureOf(new Error('a fault'), 4)).toMatchObject({ type: 'internal', nonRetryable: false });
    expect(await failureOf(new Error('a fault'), 5)).toMatchObject({ type: 'internal', nonRetryable: true });
    const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(await failureOf(away, 29)).toMatchObject({ type: 'unavailable', nonRetryable: false });
  });

  it('is left as it is where the activity has said it itself', async () => {
    const own = ApplicationFailure.nonRetryable('failed: provider_auth', 'provider_auth');
    expect(await failureOf(own)).toBe(own);
  });
});
