import type { ToolCall, ToolResultMessage } from '../../contract/agent-messages.ts';
import type { InterruptStatus } from '../../contract/decision.ts';
import type { GatedCall } from '../../contract/run-plan.ts';
import type { ToolReply } from '../../infra/postgres/gate.ts';
import type { InterruptRow } from '../../infra/postgres/interrupt.ts';
import type { InterruptRequest } from '../../infra/postgres/new-interrupt.ts';
import { toolResult } from '../engines/builtin/frames.ts';
import type { BuiltinTool } from '../engines/builtin/tools/tool.ts';

/** What is known of a call when the gate looks at it. */
export interface KnownCall {
  readonly call: ToolCall;
  readonly stepIndex: number;
  readonly tool: BuiltinTool | undefined;
  /** Why a tool that a server offers is not there now, or null. */
  readonly absence: string | null;
  /** Whether this run may use the tool. */
  readonly isAllowed: boolean;
  readonly interrupt: InterruptRow | undefined;
  /** The hooks' veto of the arguments that would be run, or null. */
  readonly veto: string | null;
}

export interface Gated {
  readonly call: GatedCall;
  readonly request?: InterruptRequest;
  readonly reply?: ToolReply;
}

/** Why a call is answered without being run; stands in the result's details (source facts, C.3). */
type RefusalKind = 'policy-block' | 'tool-restricted' | 'invalid-arguments' | 'invalid-tool-schema';

/** A call that the hooks are asked about: it exists, and this run may use the tool. */
export function isForHooks({ tool, isAllowed, interrupt }: Omit<KnownCall, 'veto'>): boolean {
  if (tool === undefined || !isAllowed) return false;
  return (
    interrupt === undefined ||
    interrupt.status === 'pending' ||
    interrupt.status === 'approved' ||
    interrupt.status === 'edited'
  );
}

/** The arguments that would be run: the approver's, where they are others. */
export function argumentsOf({ call, interrupt }: Pick<KnownCall, 'call' | 'interrupt'>): {
  readonly args: Readonly<Record<string, unknown>>;
  readonly edited: boolean;
} {
  if (interrupt?.status !== 'edited') return { args: call.arguments, edited: false };
  const decision = JSON.parse(interrupt.decision ?? 'null') as { edited_args?: Record<string, unknown> } | null;
  return { args: decision?.edited_args ?? call.arguments, edited: decision?.edited_args !== undefined };
}

/**
 * Judges one call, in the order of the contract: exists → allowed → hooks → schema → approval or question → run (source
 * facts, C.3).
 *
 * **Contract:** pure: what it is given decides, so the same rows give the same judgement.
 */
export function judgeCall(known: KnownCall): Gated {
  const { call, stepIndex, tool, isAllowed, interrupt, veto } = known;
  if (tool === undefined) return absent(known);
  const { name } = tool;
  if (!isAllowed) return refused(known, `error: tool ${name} is not allowed in this run`, 'tool-restricted');
  if (veto !== null) return refused(known, `error: tool ${name} blocked: ${veto}`, 'policy-block');
  if (call.argumentsError !== undefined)
    return refused(known, `error: invalid arguments for ${name}: ${call.argumentsError}`, 'invalid-arguments');
  const checked = tool.validate(argumentsOf(known).args);
  if (!checked.ok) return refused(known, checked.error, checked.kind);
  const delegates = tool.kind === 'delegate' ? ({ delegates: true } as const) : {};
  const base = { stepIndex, toolName: name, parallelSafe: tool.parallelSafe, ...delegates };
  if (tool.kind !== 'question' && tool.approval === 'never') return { call: { ...base, state: 'run' } };
  if (interrupt === undefined) return { call: { ...base, state: 'ask' }, request: requestOf(call, tool, stepIndex) };
  if (interrupt.status === 'pending') return { call: { ...base, state: 'ask' } };
  if (interrupt.status === 'approved' || interrupt.status === 'edited') return { call: { ...base, state: 'run' } };
  const { text, isError } = replyTo(interrupt);
  return answered(known, text, isError);
}

/** A tool's server may be there again before the person has answered. */
function absent(known: KnownCall): Gated {
  const { call, stepIndex, absence, interrupt } = known;
  const toolName = call.name.slice(0, 100);
  if (absence === null) return refused(known, `error: unknown tool: ${toolName}`);
  if (interrupt?.status === 'pending') return { call: { stepIndex, toolName, parallelSafe: false, state: 'ask' } };
  return refused(known, `error: the tool ${toolName} was not run: ${absence}`);
}

function requestOf(call: ToolCall, tool: BuiltinTool, stepIndex: number): InterruptRequest {
  const args = call.arguments;
  const common = {
    stepIndex,
    toolCallId: call.id,
    toolName: tool.name,
    arguments: args,
    schema: JSON.stringify(tool.parameters),
  };
  if (tool.kind === 'question') {
    const { prompt, options } = tool.question(args);
    return { ...common, kind: 'question', prompt, options };
  }
  return { ...common, kind: 'approval', prompt: tool.describe(args), options: ['approve', 'edit', 'reject'] };
}

type Closed = Exclude<InterruptStatus, 'pending' | 'approved' | 'edited'>;

/** What the model is told of an interrupt that ended without the tool being run. */
function replyTo(interrupt: InterruptRow): { text: string; isError: boolean } {
  const decision = JSON.parse(interrupt.decision ?? '{}') as { message?: string; values?: { answer?: string } };
  const because = decision.message === undefined ? '' : ` They said: ${decision.message}`;
  const texts: Record<Closed, { text: string; isError: boolean }> = {
    rejected: { text: `error: the user rejected this call; it was not run.${because}`, isError: true },
    answered: { text: decision.values?.answer ?? '', isError: false },
    dismissed: { text: 'error: the user dismissed the question without an answer.', isError: true },
    expired: { text: 'error: nobody answered in time; the call was not run.', isError: true },
    cancelled: { text: 'error: the run was cancelled; the call was not run.', isError: true },
  };
  return texts[interrupt.status as Closed];
}

function refused(known: KnownCall, text: string, kind?: RefusalKind): Gated {
  return answered(known, text, true, kind === undefined ? {} : { details: { kind } });
}

function answered(
  { call, stepIndex, tool }: KnownCall,
  text: string,
  isError: boolean,
  extra: Pick<ToolResultMessage, 'details'> = {},
): Gated {
  const message: ToolResultMessage = {
    role: 'tool-result',
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: 'text', text }],
    isError,
    ...extra,
    timestamp: Date.now(),
  };
  const said = { stepIndex, toolName: tool?.name ?? 'unknown', parallelSafe: false, state: 'answered' } as const;
  return { call: said, reply: { message, frame: toolResult(message) } };
}
