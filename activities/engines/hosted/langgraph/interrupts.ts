import { previewText } from '../../../../contract/frames.ts';
import type { EngineAnswer } from '../../driver.ts';
import type { HostQuestion } from '../host-protocol.ts';
import { plainJson } from '../plain-json.ts';
import { ANSWER, questionWords } from '../question-words.ts';
import { isObject, type Interrupt } from './graph-shape.ts';
import type { ToolCall } from './open-calls.ts';

const PROMPT_CHARS = 2_000;
const UNANSWERED = 'nobody answered in time';
/** What a question that was dismissed resumes with. */
const NO_ANSWER = '(no answer)';
const DECISIONS = ['approve', 'edit', 'reject'] as const;
type DecisionKind = (typeof DECISIONS)[number];

/** A tool call that LangChain's human in the loop asks about. */
interface Action {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly description: string;
  readonly options: readonly DecisionKind[];
}

/** What one interrupt asks: several actions, each a question of its own, or a value of the graph's own. */
interface Asked {
  readonly id: string;
  readonly actions: readonly Action[] | null;
  readonly questions: readonly HostQuestion[];
}

/** What the interrupts of a graph ask of a person. `calls` are those that are open: an action does not say which one it is. */
export function askedBy(interrupts: readonly Interrupt[], calls: readonly ToolCall[]): Asked[] {
  const free = [...calls];
  return interrupts.map(({ id = '', value: raw }, place): Asked => {
    const value = plainJson(raw);
    const nativeId = `${String(place)}:${id}`;
    const actions = actionsIn(value);
    const questions = actions?.map((action, i) => approvalOf(action, `${nativeId}:${String(i)}`, free));
    return { id, actions, questions: questions ?? [questionOf(value, nativeId)] };
  });
}

/** The answers, one for each question in order, as the graph is resumed by them. */
export function resumeOf(asked: readonly Asked[], answers: readonly EngineAnswer[]): unknown {
  let next = 0;
  const values = asked.map(({ id, actions, questions }) => {
    const given = questions.map(() => answers[next++] ?? { status: 'expired' as const });
    return [
      id,
      actions === null ? valueOf(given[0]) : { decisions: given.map((answer, i) => decisionOf(answer, actions[i])) },
    ] as const;
  });
  const [only] = values;
  return values.length === 1 && only !== undefined ? only[1] : Object.fromEntries(values);
}

function approvalOf({ name, args, description, options }: Action, nativeId: string, free: ToolCall[]): HostQuestion {
  const text = JSON.stringify(args);
  const place = free.findIndex((call) => call.name === name && JSON.stringify(plainJson(call.args)) === text);
  const [call] = place < 0 ? [] : free.splice(place, 1);
  return {
    kind: 'approval',
    nativeId,
    toolCallId: call?.id ?? nativeId,
    toolName: name,
    arguments: args,
    prompt: previewText(description === '' ? `${name}: ${text}` : description, PROMPT_CHARS),
    options: [...options],
    schema: null,
  };
}

function questionOf(value: unknown, nativeId: string): HostQuestion {
  const { prompt, fields } = questionWords(value);
  return { kind: 'question', nativeId, toolCallId: null, toolName: 'interrupt', prompt, fields: [...fields] };
}

function valueOf(answer: EngineAnswer | undefined): unknown {
  return answer?.status === 'answered' ? (answer.values[ANSWER] ?? answer.values) : NO_ANSWER;
}

function decisionOf(answer: EngineAnswer, action: Action | undefined): Readonly<Record<string, unknown>> {
  switch (answer.status) {
    case 'approved':
      return { type: 'approve' };
    case 'edited':
      return { type: 'edit', editedAction: { name: action?.name, args: answer.arguments } };
    case 'rejected':
      return { type: 'reject', ...(answer.message === null ? {} : { message: answer.message }) };
    case 'answered':
    case 'dismissed':
    case 'expired':
    case 'cancelled':
      return { type: 'reject', message: UNANSWERED };
  }
}

function actionsIn(value: unknown): Action[] | null {
  const requests = isObject(value) ? value['actionRequests'] : undefined;
  if (!isObject(value) || !Array.isArray(requests) || requests.length === 0) return null;
  const configs = Array.isArray(value['reviewConfigs']) ? value['reviewConfigs'].filter(isObject) : [];
  return requests.filter(isObject).map(({ name, args, description }): Action => {
    const config = configs.find(({ actionName }) => actionName === name);
    return {
      name: typeof name === 'string' ? name : 'tool',
      args: isObject(args) ? args : {},
      description: typeof description === 'string' ? description : '',
      options: optionsIn(config?.['allowedDecisions']),
    };
  });
}

function optionsIn(allowed: unknown): readonly DecisionKind[] {
  const known = DECISIONS.filter((decision) => Array.isArray(allowed) && allowed.includes(decision));
  return known.length > 0 ? known : ['approve', 'reject'];
}
