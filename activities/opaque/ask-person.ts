import type { Decision } from '../../contract/decision.ts';
import type { EngineAnswer, EngineQuestion } from '../engines/driver.ts';
import { commitAsk, markDelivered, type Asking } from '../../infra/postgres/ask.ts';
import { crashPoint } from '../../infra/crash-point.ts';
import {
  expireInterrupts,
  findInterrupt,
  withdrawInterrupt,
  type InterruptRow,
} from '../../infra/postgres/interrupt.ts';
import type { Dependencies } from '../dependencies.ts';

export interface AskPerson {
  readonly asking: Omit<Asking, 'request'>;
  readonly question: EngineQuestion;
  /** Aborts when the engine will not be given an answer any more: the turn ends, or parks. */
  readonly signal: AbortSignal;
  /** Aborts when the engine takes the question back. */
  readonly withdrawn: AbortSignal | null;
  /** The question is open, and shown. */
  readonly onOpen: () => void;
}

/**
 * Asks a person in the middle of an engine's turn and holds the engine hot until the answer is there (design §3.5).
 *
 * **Contract:** the question is committed before it is shown. The row is the one arbiter, and is read again at every wake-up and
 * every two seconds. An answer is given to an engine once. `cancelled` when `signal` aborts first: the row stays as it is; and when
 * the engine takes the question back first: the row says so.
 */
export async function askPerson(
  { pool, watch }: Pick<Dependencies, 'pool' | 'watch'>,
  { asking, question, signal, withdrawn, onOpen }: AskPerson,
): Promise<EngineAnswer> {
  const asked = await commitAsk(pool, { ...asking, request: requestOf(question) });
  if (asked === null || signal.aborted) return { status: 'cancelled' };
  crashPoint('ask.committed');
  const interruptId = asked.interrupt_id;
  if (asked.status === 'pending') onOpen();
  const looks = withdrawn === null ? signal : AbortSignal.any([signal, withdrawn]);
  for (;;) {
    await expireInterrupts(pool, asking.runId);
    const row = await findInterrupt(pool, interruptId);
    if (row === null || row.status === 'cancelled') return { status: 'cancelled' };
    if (row.status !== 'pending') {
      const isFirst = await markDelivered(pool, { interruptId, session: asking.session });
      return isFirst ? answerOf(row) : { status: 'cancelled' };
    }
    if (withdrawn?.aborted === true) await withdrawInterrupt(pool, interruptId);
    else await watch.nextLook(asking.runId, looks);
    if (signal.aborted) return { status: 'cancelled' };
  }
}

function requestOf(question: EngineQuestion): Asking['request'] {
  if (question.kind === 'approval') {
    const { kind, nativeId, toolCallId, toolName, prompt, options } = question;
    const schema = question.schema === null ? null : JSON.stringify(question.schema);
    return { kind, askKey: nativeId, toolCallId, toolName, arguments: question.arguments, schema, prompt, options };
  }
  const { kind, nativeId, toolName, prompt, fields } = question;
  const [only] = fields;
  return {
    kind,
    askKey: nativeId,
    toolCallId: question.toolCallId ?? '',
    toolName,
    arguments: { prompt, fields: fields.map(({ name }) => name) },
    schema: null,
    prompt,
    options: fields.length === 1 && only !== undefined ? only.options.map(({ label }) => label) : [],
    fields,
  };
}

function answerOf(row: InterruptRow): EngineAnswer {
  const decision = JSON.parse(row.decision ?? '{}') as Decision;
  switch (row.status) {
    case 'approved':
      return { status: 'approved', always: 'decision' in decision && decision.decision === 'always' };
    case 'edited':
      return 'edited_args' in decision
        ? { status: 'edited', arguments: decision.edited_args }
        : { status: 'rejected', message: null };
    case 'rejected':
      return { status: 'rejected', message: 'message' in decision ? (decision.message ?? null) : null };
    case 'answered':
      return 'values' in decision ? { status: 'answered', values: decision.values } : { status: 'dismissed' };
    case 'dismissed':
    case 'expired':
    case 'cancelled':
      return { status: row.status };
    case 'pending':
      throw new Error(`interrupt ${row.interrupt_id} has no answer yet`);
  }
}
