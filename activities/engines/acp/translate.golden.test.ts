import path from 'node:path';
import { describeGolden, rpcFramesOf } from '../golden.testsuite.ts';
import { translateAcpFrame } from './translate.ts';

for (const recordings of ['opencode-acp', 'claude-agent-acp', 'codex-acp', 'gemini-acp']) {
  describeGolden({
    recordings,
    provider: `acp:${recordings}`,
    translate: translateAcpFrame,
    framesOf: rpcFramesOf,
    golden: path.join(import.meta.dirname, '__golden__', recordings),
  });
}
