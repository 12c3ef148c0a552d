import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ServerEvent, Session } from './opencode-schema.ts';
import { TurnWatch } from './turn-watch.ts';

const RECORDINGS = path.join(import.meta.dirname, '../../../tests/fixtures/transcripts/opencode-serve');

/** How the turns ended that did not end well by themselves. */
const OTHER_ENDS: Readonly<Record<string, object>> = {
  'cancel-permission': { outcome: 'cancelled' },
  'cancel-text': { outcome: 'cancelled' },
  'cancel-tool': { outcome: 'cancelled' },
  'error-400': { outcome: 'failed', code: 'engine_failed', message: 'scripted bad request' },
  'error-401': { outcome: 'failed', code: 'engine_failed' },
  'error-500': { outcome: 'failed', code: 'engine_failed', message: 'scripted internal error' },
  'error-529': { outcome: 'failed', code: 'engine_failed' },
  'error-malformed-sse': { outcome: 'failed', code: 'engine_failed' },
  'error-stalled-stream': { outcome: 'cancelled' },
  'error-truncated-stream': { outcome: 'failed', code: 'engine_failed' },
};

test.each(readdirSync(RECORDINGS).map((file) => path.basename(file, '.jsonl')))(
  'the recorded turn %s ends as it did',
  async (scenario) => {
    const lines = readFileSync(path.join(RECORDINGS, `${scenario}.jsonl`), 'utf8')
      .trim()
      .split('\n');
    const frames = lines.map((line) => (JSON.parse(line) as { frame: Record<string, unknown> }).frame);
    const sessionId = frames.map(({ body }) => Session.safeParse(body).data?.id).find((id) => id !== undefined) ?? '';
    // the recorder stopped a model that was tried for the third time
    const watch = new TurnWatch({ sessionId, modelRetries: 2 });
    const stops = frames.flatMap((frame) => {
      const event = ServerEvent.safeParse(frame).data;
      return event !== undefined && watch.take(event) === 'stop' ? [event.type] : [];
    });
    expect(await watch.ended).toMatchObject(OTHER_ENDS[scenario] ?? { outcome: 'completed', stopReason: 'end_turn' });
    expect(stops.length).toBeLessThanOrEqual(1);
  },
);
