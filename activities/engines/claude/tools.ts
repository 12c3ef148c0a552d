import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { previewInput, PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { ShellResult, type Block, type Kept } from './claude-schema.ts';
import { changedFiles } from './file-changes.ts';
import { outputOf, titleOf, toolNameOf } from './tool-facts.ts';

/** A call of a tool with its whole input. */
export function toolStarted(toolCallId: string, name: string, input: unknown): CanonicalBody {
  const title = titleOf(input);
  return {
    kind: 'tool.started',
    toolCallId,
    ...toolNameOf(name),
    ...(title === '' ? {} : { title }),
    ...(input === undefined ? {} : { input: previewInput(input) }),
  };
}

/** What is known of a result beside the block that the model is given. */
export interface ResultFacts {
  /** The program's own record of it. */
  readonly result: unknown;
  /** Why the tool did not run, where it did not. */
  readonly nonExecution: string | null;
  readonly kept: Kept;
  readonly cwd: string | null;
}

/** A run that is stopped rejects what it was asked in the words of a person's rejection. */
const STOPPED = 'user-rejected';

/** The end of a tool and what it left: what it printed, a long output as an artifact, and each file that it changed. */
export function toolCompleted(block: Block, { result, nonExecution, kept, cwd }: ResultFacts): CanonicalBody[] {
  const { tool_use_id: toolCallId } = block;
  const isWell = block.is_error !== true;
  const output = previewText(outputOf(block.content), PREVIEW_LIMIT_CHARS);
  const error = nonExecution === STOPPED ? 'it was stopped' : output === '' ? 'failed' : output;
  const completed: CanonicalBody = {
    kind: 'tool.completed',
    toolCallId,
    status: isWell ? 'ok' : 'error',
    ...(isWell && output !== '' ? { preview: output } : {}),
    ...(kept.output === undefined ? {} : { artifact: kept.output.artifact }),
    ...(isWell ? {} : { error }),
    ...(nonExecution === null ? {} : { nativeStatus: nonExecution }),
  };
  const created: CanonicalBody[] = kept.output === undefined ? [] : [{ kind: 'artifact.created', ...kept.output }];
  return [...printed(toolCallId, result), completed, ...created, ...(isWell ? changedFiles(result, kept, cwd) : [])];
}

function printed(terminalId: string, result: unknown): CanonicalBody[] {
  const shell = ShellResult.safeParse(result).data;
  if (shell === undefined) return [];
  const chunk = [shell.stdout, shell.stderr].filter((text) => text !== '').join('\n');
  return chunk === '' ? [] : [{ kind: 'terminal.output', terminalId, chunk }];
}
