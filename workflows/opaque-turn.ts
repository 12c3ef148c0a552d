import { condition } from '@temporalio/workflow';
import type { AgentRunInput } from '../contract/messages.ts';
import type { DrivenTurn, Ending } from '../contract/run-plan.ts';
import { lookAgainMs, type Inbox } from './inbox.ts';
import { PendingDisplay } from './pending-display.ts';
import { DRIVE_OPTIONS, engine } from './proxies.ts';

/**
 * A run of an engine with a loop of its own: one activity drives its turn (design §3.4, "opaque").
 *
 * **Contract:** while the activity holds the engine, answers that come as signals are recorded, and what the run waits for is
 * shown. A turn that parked goes on when nothing is open any more.
 */
export async function driveOpaque(
  input: AgentRunInput,
  inbox: Inbox,
  continueFrom: (nextStep: number) => Promise<void>,
): Promise<Ending> {
  const { runId } = input;
  for (;;) {
    await continueFrom(0);
    const turn = await driveHot(input, inbox);
    switch (turn.outcome) {
      case 'completed':
        return { status: 'completed', stopReason: turn.stopReason };
      case 'cancelled':
        return { status: 'failed', stopReason: 'cancelled' };
      case 'failed':
        return { status: 'failed', stopReason: 'error', code: turn.code };
      case 'parked':
        await waitForAnswers(runId, inbox, continueFrom);
    }
  }
}

/** Drives the turn, and sees to signals meanwhile. */
async function driveHot({ runId, engine: name }: AgentRunInput, inbox: Inbox): Promise<DrivenTurn> {
  const display = new PendingDisplay(runId);
  let isOver = false;
  const options = { ...DRIVE_OPTIONS, summary: `turn · ${name}` };
  const driving = engine.driveTurn.executeWithOptions(options, [{ runId }]).finally(() => (isOver = true));
  // its failure is thrown where it is awaited below, not by this branch
  driving.catch(() => undefined);
  for (;;) {
    await condition(() => isOver || inbox.hasNews);
    if (isOver) return await driving;
    inbox.markSeen();
    await display.refresh(inbox);
  }
}

/** Waits, without a process, until nothing that the engine asked is open. */
async function waitForAnswers(
  runId: string,
  inbox: Inbox,
  continueFrom: (nextStep: number) => Promise<void>,
): Promise<void> {
  const display = new PendingDisplay(runId);
  for (let looks = 0; ; looks++) {
    const { open, expiresInMs } = await display.refresh(inbox);
    if (open === 0) return;
    await inbox.wait(Math.min(lookAgainMs(looks), expiresInMs ?? Infinity));
    await continueFrom(0);
  }
}
