import path from 'node:path';
import { describeGolden, rpcFramesOf } from '../golden.testsuite.ts';
import { translateCodexFrame } from './translate.ts';

describeGolden({
  recordings: 'codex-app-server',
  provider: 'codex',
  translate: translateCodexFrame,
  framesOf: rpcFramesOf,
  golden: path.join(import.meta.dirname, '__golden__'),
});
