import { lookAgainMs, type Inbox } from './inbox.ts';
import { local } from './proxies.ts';
import { showState } from './run-display.ts';

/** Waits until the run has the turn in its thread, or will not get it. */
export async function waitForTurn(runId: string, inbox: Inbox): Promise<'active' | 'cancelled' | 'settled'> {
  for (let looks = 0; ; looks++) {
    const turn = await local.takeTurn(runId);
    if (turn !== 'waiting') return turn;
    if (looks === 0) showState('queued', 'waits for the run before it in the thread');
    await inbox.wait(lookAgainMs(looks));
  }
}
