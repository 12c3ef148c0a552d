import path from 'node:path';
import type { NativeFrame } from '../../../contract/frames.ts';
import { describeGolden, type Recorded } from '../golden.testsuite.ts';
import { hostedFramesOf } from '../hosted/recorded-frames-testkit.ts';
import { translateLangGraphFrame } from './translate.ts';

describeGolden({
  recordings: 'deepagents',
  provider: 'langgraph',
  translate: translateLangGraphFrame,
  framesOf: (recorded) => hostedFramesOf(recorded, { sent: (input) => ({ type: 'input', dir: 'send', input }), heard }),
  golden: path.join(import.meta.dirname, '__golden__'),
});

function heard({ mode, ns: namespace, chunk, type, ...event }: Recorded['frame']): NativeFrame {
  return type === 'event' ? { ...event, type, dir: 'recv' } : { type: String(mode), dir: 'recv', namespace, chunk };
}
