import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { DeliveredEvent } from '../../../contract/canonical.ts';
import { ThreadLog } from '../../typescript/thread-log-testkit.ts';
import { ConversationView } from './conversation-view.ts';
import { Screen } from './screen.ts';

const log = new ThreadLog('thr_1', []);
const COMPLETE = {
  type: 'complete',
  deliverySeq: 99,
  complete: { runId: 'run_1', digest: 'd', events: 1, deliverySeq: 99 },
} as never;

/** What is on a screen without a terminal after these events. */
function shown(...events: readonly (Readonly<Record<string, unknown>> | 'complete')[]): string {
  let text = '';
  const output = new Writable({
    write(part: Buffer, _encoding, done) {
      text += part.toString();
      done();
    },
  });
  const idle = { onLine: () => {}, onCtrlC: () => {}, onEnd: () => {}, isColourless: true };
  const screen = new Screen({ input: new PassThrough(), output, errors: new PassThrough() }, idle);
  const view = new ConversationView(screen);
  events.forEach((said, i) => {
    if (said === 'complete') return view.show(COMPLETE);
    const event = { ...log.event(i, ''), ...said } as unknown as DeliveredEvent;
    view.show({ type: 'event', deliverySeq: event.deliverySeq, event });
  });
  screen.close();
  return text;
}

describe('a conversation on a screen', () => {
  it('streams text and reasoning, each in lines of its own, and a line for everything else', () => {
    const text = shown(
      { kind: 'turn.started', input: 'hello' },
      { kind: 'reasoning.delta', text: 'I ' },
      { kind: 'reasoning.delta', text: 'think' },
      { text: 'One ' },
      { text: 'two' },
      { kind: 'tool.started', toolCallId: 't', name: 'read', input: { path: 'a' } },
      { kind: 'tool.completed', toolCallId: 't', status: 'ok', preview: 'some\n text' },
      { kind: 'mood.changed' },
      { text: 'three', messageId: 'n' },
      { kind: 'turn.completed', stopReason: 'cancelled' },
    );
    expect(text).toBe('> hello\nI think\nOne two\n→ read {"path":"a"}\n✓ some text\nthree\n— cancelled\n');
  });

  it('puts a character together that was cut between two deltas, and shows no control of a terminal', () => {
    expect(shown({ text: 'a \ud83c' }, { text: '\udf0d\u001b[2J\rb' })).toBe('a 🌍␛[2J␍b\n');
  });

  it('leaves out what a sub-agent says', () => {
    expect(shown({ text: 'child', identity: { provider: 'x', nativeParentSessionId: 'p' } }, { text: 'mine' })).toBe(
      'mine\n',
    );
  });

  it('says that a step is repeated, and shows what comes in its place', () => {
    const text = shown(
      { eventId: 'a', text: 'half' },
      { eventId: 'b', text: ' a sen' },
      { eventId: 'a', text: 'half', revision: 1, retracted: true },
      { eventId: 'b', text: ' a sen', revision: 1, retracted: true },
      { eventId: 'a', text: 'a whole one', revision: 2, seq: 0 },
      'complete',
    );
    expect(text).toBe('half a sen\n— this step is repeated; what it said above is withdrawn\na whole one\n');
  });

  it('shows the true text of a message that was revised behind its back', () => {
    const text = shown({ eventId: 'a', text: 'said' }, { eventId: 'a', text: 'sealed', revision: 1 }, 'complete');
    expect(text).toBe('said\n— corrected:\nsealed\n');
  });
});
