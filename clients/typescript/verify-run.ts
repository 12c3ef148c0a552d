import { TidemarkApiError } from './api-error.ts';
import type { ServerVerification } from './resources.ts';
import { digestBytes, type RunFold } from './run-fold.ts';
import type { DeliveredCompletion } from './thread-item.ts';

/** What this client can say of a run's proof, by its own computation. */
export interface RunVerification {
  readonly runId: string;
  /** Null: the run's events were removed by retention, so nothing can be said. */
  readonly holds: boolean | null;
  readonly why: 'proven' | 'not_complete' | 'digest_differs' | 'frames_differ' | 'events_removed';
  /** The record that the log delivers; null while there is none. */
  readonly recorded: DeliveredCompletion | null;
  /** What this client holds. */
  readonly computed: { readonly digest: string; readonly events: number };
  /** The server's own account, which has the frames behind the events as well. */
  readonly server: ServerVerification;
}

/** The SHA-256 over a run's events, in hex, and how many they are. */
export async function digestOfFold(fold: RunFold): Promise<{ readonly digest: string; readonly events: number }> {
  const events = fold.events();
  return { digest: await sha256(digestBytes(events)), events: events.length };
}

/**
 * Judges what a client holds of a run.
 *
 * **Contract:** `holds` is true only when the digest over the folded events, computed here, is the one that the log's
 * completion record has, and the server does not say that the frames behind them differ.
 */
export async function judgeRun(held: {
  readonly fold: RunFold;
  readonly recorded: DeliveredCompletion | null;
  readonly server: ServerVerification;
}): Promise<RunVerification> {
  const { fold, recorded, server } = held;
  const computed = await digestOfFold(fold);
  const why = verdict(recorded, computed, server);
  const holds = why === 'events_removed' ? null : why === 'proven';
  return { runId: server.run_id, holds, why, recorded, computed, server };
}

function verdict(
  recorded: DeliveredCompletion | null,
  computed: { readonly digest: string; readonly events: number },
  server: ServerVerification,
): RunVerification['why'] {
  if (server.events_removed_at !== null) return 'events_removed';
  if (recorded === null) return 'not_complete';
  if (recorded.digest !== computed.digest || recorded.events !== computed.events) return 'digest_differs';
  return server.holds === false ? 'frames_differ' : 'proven';
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // a page that is neither on https nor on localhost has no WebCrypto, whatever the types say
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto };
  if (subtle === undefined) {
    throw new TidemarkApiError(
      'no_web_crypto',
      'this page has no WebCrypto, so no digest can be computed',
      'Serve the page over https or from localhost.',
    );
  }
  return Array.from(new Uint8Array(await subtle.digest('SHA-256', bytes)), hex).join('');
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
