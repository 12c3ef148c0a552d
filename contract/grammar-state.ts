import { assertNeverEvent, type CanonicalBody } from './canonical.ts';

/**
 * What is open in a run, as the events so far tell it. The guard uses it to keep every engine's stream well formed
 * (design §9): what is open at the end is closed, a start is said once, nothing follows the end of the turn.
 */
export interface GrammarState {
  settled: boolean;
  /** Open text and reasoning blocks by message id. */
  messages: Record<string, OpenBlock>;
  reasoning: Record<string, OpenBlock>;
  /** Tool calls started and not completed. */
  tools: Record<string, OpenBlock>;
  /** Tool calls completed; a late or repeated start of one is not said again. */
  toolsDone: Record<string, OpenBlock>;
  approvals: Record<string, OpenBlock>;
  questions: Record<string, OpenBlock>;
  children: Record<string, OpenBlock>;
  /** How often (step, kind, native id) was said: the ordinal of the next. */
  counters: Record<string, number>;
}

interface OpenBlock {
  readonly step: number | null;
}

export const initialGrammar: GrammarState = {
  settled: false,
  messages: {},
  reasoning: {},
  tools: {},
  toolsDone: {},
  approvals: {},
  questions: {},
  children: {},
  counters: {},
};

/** The events to say for one wanted event: itself, with what must come before it, or nothing if it was said. */
export function guard(state: GrammarState, body: CanonicalBody, step: number | null): CanonicalBody[] {
  const open: OpenBlock = { step };
  switch (body.kind) {
    case 'message.started':
      if (state.messages[body.messageId] !== undefined) return [];
      state.messages[body.messageId] = open;
      return [body];
    case 'message.delta': {
      if (body.text === '') return [];
      const begin: CanonicalBody[] =
        state.messages[body.messageId] === undefined ? [{ kind: 'message.started', messageId: body.messageId }] : [];
      state.messages[body.messageId] ??= open;
      return [...begin, body];
    }
    case 'message.completed': {
      const begin: CanonicalBody[] =
        state.messages[body.messageId] === undefined ? [{ kind: 'message.started', messageId: body.messageId }] : [];
      delete state.messages[body.messageId];
      return [...begin, body];
    }
    case 'reasoning.delta':
      if (body.text === '') return [];
      state.reasoning[body.messageId] ??= open;
      return [body];
    case 'reasoning.completed':
      if (state.reasoning[body.messageId] === undefined) return [];
      delete state.reasoning[body.messageId];
      return [body];
    case 'tool.started':
      if (state.tools[body.toolCallId] !== undefined || state.toolsDone[body.toolCallId] !== undefined) return [];
      state.tools[body.toolCallId] = open;
      return [body];
    case 'tool.completed': {
      if (state.toolsDone[body.toolCallId] !== undefined) return [];
      const begin: CanonicalBody[] =
        state.tools[body.toolCallId] === undefined
          ? [{ kind: 'tool.started', toolCallId: body.toolCallId, name: 'tool' }]
          : [];
      delete state.tools[body.toolCallId];
      state.toolsDone[body.toolCallId] = open;
      return [...begin, body];
    }
    case 'approval.requested':
      if (state.approvals[body.approvalId] !== undefined) return [];
      state.approvals[body.approvalId] = open;
      return [body];
    case 'approval.resolved':
      if (state.approvals[body.approvalId] === undefined) return [];
      delete state.approvals[body.approvalId];
      return [body];
    case 'question.requested':
      if (state.questions[body.questionId] !== undefined) return [];
      state.questions[body.questionId] = open;
      return [body];
    case 'question.resolved':
      if (state.questions[body.questionId] === undefined) return [];
      delete state.questions[body.questionId];
      return [body];
    case 'child.started':
      if (state.children[body.childId] !== undefined) return [];
      state.children[body.childId] = open;
      return [body];
    case 'child.completed':
      delete state.children[body.childId];
      return [body];
    case 'turn.completed':
      state.settled = true;
      return [body];
    case 'session.started':
    case 'session.metadata':
    case 'turn.started':
    case 'plan.updated':
    case 'tool.progress':
    case 'file.changed':
    case 'artifact.created':
    case 'artifact.delivered':
    case 'terminal.output':
    case 'child.updated':
    case 'commands.updated':
    case 'mode.updated':
    case 'usage.updated':
    case 'context.marker':
    case 'harness.warning':
    case 'harness.error':
      return [body];
    default:
      return assertNeverEvent(body);
  }
}

/** The events that close all that is open, in the order in which a reader expects them; the guard marks them closed. */
export function closeEverything(state: GrammarState): CanonicalBody[] {
  return [
    ...Object.keys(state.reasoning).map((messageId): CanonicalBody => ({ kind: 'reasoning.completed', messageId })),
    ...Object.keys(state.messages).map((messageId): CanonicalBody => ({ kind: 'message.completed', messageId })),
    ...Object.keys(state.approvals).map((approvalId): CanonicalBody => ({
      kind: 'approval.resolved',
      approvalId,
      decision: 'cancelled',
    })),
    ...Object.keys(state.questions).map((questionId): CanonicalBody => ({
      kind: 'question.resolved',
      questionId,
      answer: '',
      status: 'rejected',
    })),
    ...Object.keys(state.tools).map((toolCallId): CanonicalBody => ({
      kind: 'tool.completed',
      toolCallId,
      status: 'error',
      error: 'the run ended before the tool did',
    })),
    ...Object.keys(state.children).map((childId): CanonicalBody => ({
      kind: 'child.completed',
      childId,
      status: 'error',
    })),
  ];
}

/** Forgets all that a step's dead attempt had opened, so that the next attempt says it afresh under the same ids. */
export function forgetStep(state: GrammarState, stepIndex: number): void {
  for (const open of [
    state.messages,
    state.reasoning,
    state.tools,
    state.toolsDone,
    state.approvals,
    state.questions,
    state.children,
  ]) {
    for (const [id, block] of Object.entries(open)) if (block.step === stepIndex) delete open[id];
  }
  forgetCounters(state, stepIndex);
}

/** A step that ended says nothing more: what was kept to recognise its repeats is dropped, so the state stays small. */
export function endStep(state: GrammarState, stepIndex: number): void {
  for (const [id, block] of Object.entries(state.toolsDone)) if (block.step === stepIndex) delete state.toolsDone[id];
  forgetCounters(state, stepIndex);
}

function forgetCounters(state: GrammarState, stepIndex: number): void {
  for (const key of Object.keys(state.counters)) {
    if (key.startsWith(`${String(stepIndex)}:`)) delete state.counters[key];
  }
}
