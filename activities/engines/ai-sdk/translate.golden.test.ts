import path from 'node:path';
import { describeGolden } from '../golden.testsuite.ts';
import { hostedFramesOf } from '../hosted/recorded-frames-testkit.ts';
import { translateAiSdkFrame } from './translate.ts';

for (const api of ['chat', 'responses', 'anthropic']) {
  describeGolden({
    recordings: `ai-sdk-${api}`,
    provider: 'ai-sdk',
    translate: translateAiSdkFrame,
    framesOf: (recorded) =>
      hostedFramesOf(recorded, {
        sent: ({ messages }) => ({ type: 'prompt', dir: 'send', messages }),
        heard: (part) => ({ type: String(part['type']), dir: 'recv', part }),
      }),
    golden: path.join(import.meta.dirname, '__golden__', api),
  });
}
