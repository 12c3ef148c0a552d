import type { DeliveredEvent } from '../../contract/canonical.ts';

export interface MessageText {
  readonly messageId: string;
  readonly text: string;
}

/** An event of a sub-agent: a view of the conversation leaves it out. */
export function isOfChild({ identity }: DeliveredEvent): boolean {
  return identity.nativeParentSessionId !== undefined;
}

/** The assistant's messages of a folded run, in the order in which they began: the completed text, else the deltas joined. */
export function messageTexts(events: readonly DeliveredEvent[]): MessageText[] {
  const deltas = new Map<string, string>();
  const whole = new Map<string, string>();
  for (const event of events) {
    if (isOfChild(event)) continue;
    if (event.kind === 'message.started') deltas.set(event.messageId, deltas.get(event.messageId) ?? '');
    if (event.kind === 'message.delta') deltas.set(event.messageId, (deltas.get(event.messageId) ?? '') + event.text);
    if (event.kind === 'message.completed') {
      deltas.set(event.messageId, deltas.get(event.messageId) ?? '');
      if (event.text !== undefined) whole.set(event.messageId, event.text);
    }
  }
  return [...deltas].map(([messageId, joined]) => ({ messageId, text: whole.get(messageId) ?? joined }));
}

/** What a folded run's last message says: its answer. */
export function finalText(events: readonly DeliveredEvent[]): string {
  return messageTexts(events).findLast(({ text }) => text !== '')?.text ?? '';
}
