import type { CanonicalBody, DeliveredEvent } from './canonical.ts';
import { suspendBlocks } from './lifecycle-blocks.ts';
import { announceTools, reenterChildren, type Speaker } from './lifecycle-children.ts';
import { closingEvents } from './lifecycle-closing.ts';
import { root, say, type Draft } from './lifecycle-draft.ts';
import { interruptOf } from './lifecycle-interrupts.ts';
import type { PendingInterrupt } from './lifecycle-projection-state.ts';
import { initialLifecycleState, toolKey } from './lifecycle-state.ts';
import { decideTool } from './lifecycle-tools.ts';
import { argumentsOf, lifecycleId, lifecycleName } from './lifecycle-values.ts';

/** What this projection says of itself as an adapter: it grows when the same log would give another stream. */
export const PROJECTION_VERSION = '1.0.0';

type Requested = CanonicalBody<'approval.requested' | 'question.requested'>;
type Resolved = CanonicalBody<'approval.resolved' | 'question.resolved'>;

/** Begins a leg, and says again what the pause has left open: the calls and sub-agents that go on. */
export function startLeg(draft: Draft): void {
  const { state } = draft;
  const fresh = { phase: 'open', stream: initialLifecycleState, awaited: [], isLimited: false } as const;
  draft.state = { ...state, ...fresh, leg: state.leg + 1 };
  const data = { harness_id: lifecycleId(state.run.engine), adapter_version: PROJECTION_VERSION };
  say(draft, root({ type: 'run.started', data }));
  announceTools(draft, []);
  reenterChildren(draft);
}

export function noteRequest(draft: Draft, body: Requested, { namespace, agentId }: Speaker): void {
  const isApproval = body.kind === 'approval.requested';
  const interruptId = isApproval ? body.approvalId : body.questionId;
  const canonicalTool = body.toolCallId ?? '';
  const tool = toolKey(canonicalTool === '' ? interruptId : canonicalTool);
  const call = draft.state.tools[tool];
  const pending: PendingInterrupt = {
    kind: isApproval ? 'approval' : 'question',
    interruptId,
    agentId,
    namespace,
    tool,
    toolCallId: call?.id ?? lifecycleId(canonicalTool === '' ? interruptId : canonicalTool),
    toolName: isApproval && body.toolName !== undefined ? lifecycleName(body.toolName, 'tool') : (call?.name ?? 'tool'),
    args: isApproval && body.input !== undefined ? argumentsOf(body.input) : (call?.args ?? {}),
    prompt: isApproval ? body.operation : body.prompt,
    options: body.options ?? [],
    questions: isApproval ? [] : (body.questions ?? []).map(asAsked),
  };
  const others = draft.state.pending.filter((other) => other.interruptId !== interruptId);
  draft.state = { ...draft.state, pending: [...others, pending] };
}

/** Forgets an interrupt that has its answer; what was decided goes with the gated call. */
export function noteAnswer(draft: Draft, body: Resolved): void {
  const interruptId = interruptIdOf(body);
  const asked = draft.state.pending.find((other) => other.interruptId === interruptId);
  if (asked === undefined) return;
  forgetRequest(draft, interruptId);
  if (body.kind === 'approval.resolved') decideTool(draft, asked.tool, body.decision, body.input);
  else decideTool(draft, asked.tool, body.status === 'rejected' ? 'dismissed' : 'answered', undefined);
}

export function forgetRequest(draft: Draft, interruptId: string): void {
  const { state } = draft;
  draft.state = { ...state, pending: state.pending.filter((other) => other.interruptId !== interruptId) };
}

/** The id of the answer's interrupt. */
export function interruptIdOf(body: Resolved): string {
  return body.kind === 'approval.resolved' ? body.approvalId : body.questionId;
}

/**
 * Ends a leg with a pause, once the log says that the interrupts and the state to resume from are committed (rules 8 and 14). The
 * interrupt is in the root namespace and names the sub-agent that asks, because the namespaces are left before it.
 */
export function pauseLeg(draft: Draft, metadata: Readonly<Record<string, unknown>>): void {
  const { pending, run } = draft.state;
  const head = committedHead(metadata);
  const ids: unknown = metadata['interrupts'];
  const asked = pending.filter(({ interruptId }) => !Array.isArray(ids) || ids.includes(interruptId));
  if (head === null || asked.length === 0) return;
  suspendBlocks(draft);
  for (const said of closingEvents(draft.state.stream, 'interrupted')) say(draft, said);
  const data = interruptOf(asked, lifecycleId(run.engine));
  const { interrupt_id, interrupt_type } = data;
  say(draft, root({ type: 'interrupt.requested', data }));
  const reason = interrupt_type === 'form_input' ? 'human_input' : 'tool_approval';
  const pause = { interrupt_id, durable_revision: head.revision, head_ref: head.headRef };
  say(draft, root({ type: 'run.interrupted', data: { interrupt_id, reason } }), pause);
  draft.state = { ...draft.state, phase: 'paused', awaited: asked.map(({ interruptId }) => interruptId) };
}

/** The head of the session as the platform committed it; null while it did not. */
export function committedHead(
  metadata: Readonly<Record<string, unknown>>,
): { revision: number; headRef: string } | null {
  const { durability, revision, headRef } = metadata as Readonly<
    Partial<Record<'durability' | 'revision' | 'headRef', unknown>>
  >;
  if (durability !== 'committed' || typeof headRef !== 'string') return null;
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) return null;
  return { revision, headRef: lifecycleId(headRef) };
}

/** How many events of the log a pause may hold back before the next leg begins without the answer. */
const HELD_LIMIT = 1_000;

/**
 * What the log says during a pause is the beginning of the next leg. That leg begins when the last answer is there, so a batch is
 * one pause; or earlier, when the run ends, or goes on at length by itself.
 *
 * @returns what must be projected now, in order; empty while the pause lasts.
 */
export function duringPause(draft: Draft, event: DeliveredEvent): readonly DeliveredEvent[] {
  const isAnswer = !isRevoked(event) && (event.kind === 'approval.resolved' || event.kind === 'question.resolved');
  if (isAnswer && draft.state.awaited.includes(interruptIdOf(event))) {
    const awaited = draft.state.awaited.filter((id) => id !== interruptIdOf(event));
    noteAnswer(draft, event);
    draft.state = { ...draft.state, awaited };
    if (awaited.length > 0) return [];
  } else {
    draft.state = { ...draft.state, held: [...draft.state.held, event] };
    if (event.kind !== 'turn.completed' && draft.state.held.length < HELD_LIMIT) return [];
  }
  const { held } = draft.state;
  draft.state = { ...draft.state, held: [] };
  startLeg(draft);
  return held;
}

export function isRevoked(event: DeliveredEvent): boolean {
  return event.retracted === true;
}

function asAsked(question: NonNullable<CanonicalBody<'question.requested'>['questions']>[number]) {
  const { header, prompt, options, multiple } = question;
  return {
    prompt,
    options: options.map(({ label }) => label),
    multiple,
    ...(header === undefined ? {} : { name: header }),
  };
}
