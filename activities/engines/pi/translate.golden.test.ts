import path from 'node:path';
import { describeGolden, type Recorded } from '../golden.testsuite.ts';
import { PiFrames, type PiMessage } from './pi-frames.ts';
import { translatePiFrame } from './translate.ts';

for (const recordings of ['pi-rpc', 'pi-rpc-1.6']) {
  describeGolden({
    recordings,
    provider: 'pi',
    translate: translatePiFrame,
    framesOf,
    golden: path.join(import.meta.dirname, '__golden__', recordings),
  });
}

/** Each recording is of one process. */
function framesOf(recorded: readonly Recorded[]) {
  const frames = new PiFrames();
  return recorded.flatMap(({ dir, frame }) => {
    return dir === 'recv' || dir === 'send' ? frames.framesOf(dir, frame as unknown as PiMessage) : [];
  });
}
