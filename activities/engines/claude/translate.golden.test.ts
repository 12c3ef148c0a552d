import path from 'node:path';
import { describeGolden, type Recorded } from '../golden.testsuite.ts';
import { ClaudeFrames } from './claude-frames.ts';
import { translateClaudeFrame } from './translate.ts';

describeGolden({
  recordings: 'claude-agent-sdk',
  provider: 'claude',
  translate: translateClaudeFrame,
  framesOf(recorded: readonly Recorded[]) {
    const frames = new ClaudeFrames();
    return recorded.flatMap(({ dir, frame }) => (dir === 'recv' || dir === 'send' ? [frames.frameOf(dir, frame)] : []));
  },
  golden: path.join(import.meta.dirname, '__golden__'),
});
