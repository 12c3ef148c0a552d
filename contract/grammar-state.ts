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

/** Ids come from outside: `__proto__` and `constructor` are ids like any other, so no record is keyed by a bare one. */
function keyOf(id: string): string {
  return `#${id}`;
}

function idsOf(table: Readonly<Record<string, OpenBlock>>): string[] {
  return Object.keys(table).map((key) => key.slice(1));
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

/** A state of its own, to be changed: blocks are never changed, so they are shared (`structuredClone` costs ten times as much). */
export function copyOf(state: GrammarState): GrammarState {
  return {
    settled: state.settled,
    messages: { ...state.messages },
    reasoning: { ...state.reasoning },
    tools: { ...state.tools },
    toolsDone: { ...state.toolsDone },
    approvals: { ...state.approvals },
    questions: { ...state.questions },
    children: { ...state.children },
    counters: { ...state.counters },
  };
}

/** The events to say for one wanted event: itself, with what must come before it, or nothing if it was said. */
export function guard(state: GrammarState, body: CanonicalBody, step: number | null): CanonicalBody[] {
  const open: OpenBlock = { step };
  switch (body.kind) {
    case 'message.started':
      if (state.messages[keyOf(body.messageId)] !== undefined) return [];
      state.messages[keyOf(body.messageId)] = open;
      return [body];
    case 'message.delta': {
      if (body.text === '') return [];
      const begin: CanonicalBody[] =
        state.messages[keyOf(body.messageId)] === undefined
          ? [{ kind: 'message.started', messageId: body.messageId }]
          : [];
      state.messages[keyOf(body.messageId)] ??= open;
      return [...begin, body];
    }
    case 'message.completed': {
      const begin: CanonicalBody[] =
        state.messages[keyOf(body.messageId)] === undefined
          ? [{ kind: 'message.started', messageId: body.messageId }]
          : [];
      delete state.messages[keyOf(body.messageId)];
      return [...begin, body];
    }
    case 'reasoning.delta':
      if (body.text === '') return [];
      state.reasoning[keyOf(body.messageId)] ??= open;
      return [body];
    case 'reasoning.completed':
      if (state.reasoning[keyOf(body.messageId)] === undefined) return [];
      delete state.reasoning[keyOf(body.messageId)];
      return [body];
    case 'tool.started':
      if (state.tools[keyOf(body.toolCallId)] !== undefined || state.toolsDone[keyOf(body.toolCallId)] !== undefined)
        return [];
      state.tools[keyOf(body.toolCallId)] = open;
      return [body];
    case 'tool.completed': {
      if (state.toolsDone[keyOf(body.toolCallId)] !== undefined) return [];
      const begin: CanonicalBody[] =
        state.tools[keyOf(body.toolCallId)] === undefined
          ? [{ kind: 'tool.started', toolCallId: body.toolCallId, name: 'tool' }]
          : [];
      delete state.tools[keyOf(body.toolCallId)];
      state.toolsDone[keyOf(body.toolCallId)] = open;
      return [...begin, body];
    }
    case 'approval.requested':
      if (state.approvals[keyOf(body.approvalId)] !== undefined) return [];
      state.approvals[keyOf(body.approvalId)] = open;
      return [body];
    case 'approval.resolved':
      if (state.approvals[keyOf(body.approvalId)] === undefined) return [];
      delete state.approvals[keyOf(body.approvalId)];
      return [body];
    case 'question.requested':
      if (state.questions[keyOf(body.questionId)] !== undefined) return [];
      state.questions[keyOf(body.questionId)] = open;
      return [body];
    case 'question.resolved':
      if (state.questions[keyOf(body.questionId)] === undefined) return [];
      delete state.questions[keyOf(body.questionId)];
      return [body];
    case 'child.started':
      if (state.children[keyOf(body.childId)] !== undefined) return [];
      state.children[keyOf(body.childId)] = open;
      return [body];
    case 'child.completed':
      delete state.children[keyOf(body.childId)];
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
export function closeEverything(state: GrammarState, why: string): CanonicalBody[] {
  return [...closeBlocks(state), ...closeQuestions(state), ...closeWork(state, why)];
}

/** The same without what a person is asked: that stays open while the run may go on. */
export function closeWorkOnly(state: GrammarState, why: string): CanonicalBody[] {
  return [...closeBlocks(state), ...closeWork(state, why)];
}

function closeBlocks(state: GrammarState): CanonicalBody[] {
  return [
    ...idsOf(state.reasoning).map((messageId): CanonicalBody => ({ kind: 'reasoning.completed', messageId })),
    ...idsOf(state.messages).map((messageId): CanonicalBody => ({ kind: 'message.completed', messageId })),
  ];
}

function closeQuestions(state: GrammarState): CanonicalBody[] {
  return [
    ...idsOf(state.approvals).map((approvalId): CanonicalBody => ({
      kind: 'approval.resolved',
      approvalId,
      decision: 'cancelled',
    })),
    ...idsOf(state.questions).map((questionId): CanonicalBody => ({
      kind: 'question.resolved',
      questionId,
      answer: '',
      status: 'rejected',
    })),
  ];
}

function closeWork(state: GrammarState, why: string): CanonicalBody[] {
  return [
    ...idsOf(state.tools).map((toolCallId): CanonicalBody => ({
      kind: 'tool.completed',
      toolCallId,
      status: 'error',
      error: why,
    })),
    ...idsOf(state.children).map((childId): CanonicalBody => ({
      kind: 'child.completed',
      childId,
      status: 'error',
      result: why,
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
