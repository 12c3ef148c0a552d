import type { Presenter } from '../presenter.ts';
import { TerminalConversation, type UnreadInput } from '../terminal/terminal-conversation.ts';

/**
 * For a person at a terminal: text as it streams, questions and approvals in place, Ctrl-C to stop a run.
 *
 * **Contract:** leaving never stops a run. On pipes a line is taken when nothing is at work or something is asked, and the end
 * of the input leaves when nothing is at work.
 */
export function terminalPresenter(): Presenter {
  // what was read of the input and not taken stays when the presenter is run again
  let unread: UnreadInput = { lines: [], hasEnded: false };
  return {
    name: 'terminal',
    async run(context) {
      const conversation = new TerminalConversation(context, unread);
      try {
        await conversation.run();
      } finally {
        unread = conversation.close();
      }
    },
  };
}
