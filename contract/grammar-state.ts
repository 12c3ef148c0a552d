import { assertNeverEvent, type CanonicalBody } from './canonical.ts';
import type { StepRange } from './sub-agent.ts';

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

/** An event that closes what a step had opened. */
export interface Closing {
  readonly body: CanonicalBody;
  readonly step: number | null;
}

/** What is open, as long as it is chosen. */
type Choice = (block: OpenBlock) => boolean;
const all: Choice = () => true;

/** The events that close all that is open, in the order in which a reader expects them; the guard marks them closed. */
export function closeEverything(state: GrammarState, why: string): Closing[] {
  return [...closeBlocks(state, all), ...closeQuestions(state), ...closeWork(state, why, all)];
}

/** The same without what a person is asked: that stays open while the run may go on. */
export function closeWorkOnly(state: GrammarState, why: string): Closing[] {
  return [...closeBlocks(state, all), ...closeWork(state, why, all)];
}

/** The same for what some steps had opened. */
export function closeWorkOfSteps(state: GrammarState, { first, last }: StepRange, why: string): Closing[] {
  const isTheirs: Choice = ({ step }) => step !== null && step >= first && step <= last;
  return [...closeBlocks(state, isTheirs), ...closeWork(state, why, isTheirs)];
}

function closeBlocks(state: GrammarState, choice: Choice): Closing[] {
  return [
    ...closings(state.reasoning, choice, (messageId) => ({ kind: 'reasoning.completed', messageId })),
    ...closings(state.messages, choice, (messageId) => ({ kind: 'message.completed', messageId })),
  ];
}

function closeQuestions(state: GrammarState): Closing[] {
  return [
    ...closings(state.approvals, all, (approvalId) => {
      return { kind: 'approval.resolved', approvalId, decision: 'cancelled' };
    }),
    ...closings(state.questions, all, (questionId) => {
      return { kind: 'question.resolved', questionId, answer: '', status: 'rejected' };
    }),
  ];
}

function closeWork(state: GrammarState, why: string, choice: Choice): Closing[] {
  return [
    ...closings(state.tools, choice, (toolCallId) => {
      return { kind: 'tool.completed', toolCallId, status: 'error', error: why };
    }),
    ...closings(state.children, choice, (childId) => {
      return { kind: 'child.completed', childId, status: 'error', result: why };
    }),
  ];
}

/** Ids come from outside, so a table's keys are not bare ones. */
function closings(
  table: Readonly<Record<string, OpenBlock>>,
  choice: Choice,
  bodyOf: (id: string) => CanonicalBody,
): Closing[] {
  const chosen = Object.entries(table).filter(([, block]) => choice(block));
  return chosen.map(([key, { step }]) => ({ body: bodyOf(key.slice(1)), step }));
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
