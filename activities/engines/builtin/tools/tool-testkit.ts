import { hash } from 'node:crypto';
import { createLogger } from '../../../../infra/log.ts';
import { artifactIdOf } from '../../../../infra/ids.ts';
import { startEngineProcess } from '../../process/engine-process.ts';
import { DEFAULT_LIMITS, type ToolContext, type ToolLimits } from './tool.ts';

const log = createLogger({ logLevel: 'silent' }, 'test');

/** What a tool is given in a test; `said` takes what it prints. */
export function toolContext(
  given: Partial<Omit<ToolContext, 'limits'>> & {
    readonly limits?: Partial<ToolLimits>;
    readonly said?: string[];
    /** Whose processes it starts. */
    readonly mark?: string;
  } = {},
): ToolContext {
  const { limits, said = [], mark = 'tool-test', ...rest } = given;
  const bounds = { ...DEFAULT_LIMITS, ...limits };
  return {
    agent: { runId: 'run_test', threadId: 'thr_test', model: 'scripted/text' },
    toolCallId: 'tc_test',
    workspace: '/nowhere',
    signal: new AbortController().signal,
    fetchAllow: [],
    limits: bounds,
    start: (options) => startEngineProcess({ ...options, memoryMb: bounds.shellMemoryMb, mark, log }),
    print: (text) => void said.push(text),
    artifactIdOf: (content) => artifactIdOf('default', hash('sha256', content)),
    ...rest,
  };
}
