import path from 'node:path';
import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { describeGolden, type Recorded } from '../golden.testsuite.ts';
import { answerFrame, callFrame, type ServerCall } from './call-frames.ts';
import { EventFrames } from './event-frames.ts';
import { ServerEvent } from './opencode-schema.ts';
import { translateOpencodeFrame } from './translate.ts';

const Call = z.object({ method: z.enum(['GET', 'POST']), url: z.string(), body: z.unknown().optional() });
const Answer = z.object({ status: z.number(), body: z.unknown() });

/** The recorder let one request wait for the answer to the one before. */
function framesOf(recorded: readonly Recorded[]): NativeFrame[] {
  const events = new EventFrames();
  let calls = 0;
  let asked: ServerCall | null = null;
  return recorded.flatMap(({ dir, frame }): NativeFrame[] => {
    if (dir === 'send') {
      const { method, url, body } = Call.parse(frame);
      asked = { method, path: url.split('?')[0] ?? url, body };
      calls += 1;
      return [callFrame(calls, asked)];
    }
    if (dir !== 'recv') return [];
    const event = ServerEvent.safeParse(frame).data;
    if (event !== undefined) return events.framesOf(event);
    const { status, body } = Answer.parse(frame);
    return asked === null ? [] : [answerFrame(calls, asked, { status, body })];
  });
}

describeGolden({
  recordings: 'opencode-serve',
  provider: 'opencode',
  translate: translateOpencodeFrame,
  framesOf,
  golden: path.join(import.meta.dirname, '__golden__'),
});
