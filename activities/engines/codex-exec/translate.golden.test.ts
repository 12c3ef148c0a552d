import path from 'node:path';
import type { NativeFrame } from '../../../contract/frames.ts';
import { describeGolden, type Recorded } from '../golden.testsuite.ts';
import { execFrame, invocationFrame } from './frames.ts';
import { translateCodexExecFrame } from './translate.ts';

describeGolden({
  recordings: 'codex-exec',
  provider: 'codex-exec',
  translate: translateCodexExecFrame,
  framesOf: (recorded) => recorded.flatMap(framesOf),
  golden: path.join(import.meta.dirname, '__golden__'),
});

/** The recorder's note of how it started the process stands for what the driver stores of it. */
function framesOf({ dir, frame }: Recorded): NativeFrame[] {
  if (dir === 'recv') return [execFrame(frame)];
  if (dir !== 'note' || !Array.isArray(frame['argv'])) return [];
  const [, ...args] = frame['argv'] as string[];
  return [invocationFrame({ args: args.slice(0, -1), threadId: null, input: args.at(-1) ?? '' })];
}
