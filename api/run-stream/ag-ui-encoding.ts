import { initialAgUi } from '../../contract/encoders/ag-ui-state.ts';
import { agUiEncoder } from '../../contract/encoders/ag-ui.ts';
import { advanceAgUiReplay, reopenAgUi, startAgUiReplay } from '../../contract/encoders/ag-ui-reopen.ts';
import type { LegContext } from '../../contract/encoders/lifecycle-encoding.ts';
import { isTerminal } from '../../contract/lifecycle.ts';
import type { Conversation } from './conversation.ts';
import { plainEncoding, type LegStream } from './stream-leg.ts';

/** A leg for the client that asked for it and holds the transcript: from RUN_STARTED, event by event. */
export function agUiFromStart(context: LegContext, unanswered: readonly string[]): LegStream['encode'] {
  const encoder = { ...agUiEncoder, initial: initialAgUi(unanswered) };
  return plainEncoding(encoder, { context, after: 0, saysCursor: false });
}

/**
 * A leg for a client that comes to it from outside or comes back: RUN_STARTED, a snapshot of the thread's conversation up to the
 * cursor with the partial message in it, what is open opened again, and the rest event by event.
 */
export function agUiFromCursor(before: Conversation, context: LegContext, after: number): LegStream['encode'] {
  let replay = startAgUiReplay(before.messages, before.unanswered);
  let rest: LegStream['encode'] | null = null;
  let seen = 0;
  return (events) => {
    if (rest !== null) return rest(events);
    // the leg's first event is in the snapshot whatever the cursor: RUN_STARTED stands before it
    const known = events.filter(({ deliverySeq }, i) => deliverySeq <= after || (seen === 0 && i === 0));
    if (known.length > 0) {
      const batch = known.map(({ event, deliverySeq }) => ({ event, context: { ...context, deliverySeq } }));
      replay = advanceAgUiReplay(replay, batch);
      seen = known.at(-1)?.deliverySeq ?? seen;
    }
    if (seen === 0) return '';
    // while more may come that the cursor covers, the snapshot is not whole; an empty page says that all stored was read
    const last = events.at(-1)?.event;
    const mayGrow = last !== undefined && !isTerminal(last) && known.length === events.length && seen < after;
    if (mayGrow) return '';
    const opening = reopenAgUi(replay, seen).join('');
    rest = plainEncoding({ ...agUiEncoder, initial: replay.state }, { context, after: 0, saysCursor: false });
    return opening + rest(events.slice(known.length));
  };
}
