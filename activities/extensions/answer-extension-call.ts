import type { EmittedEvent } from '../../contract/extensions/bus-event.ts';
import { EXTENSION_CALL_LIMIT_MS, type ExtensionAnswer } from '../../contract/extension-call.ts';
import { TidemarkError } from '../../contract/errors.ts';
import { firstLineOf } from '../../contract/extensions/event-bus.ts';
import type { ExtensionCallRow } from '../../infra/postgres/extension-call.ts';
import { callerStateOf } from './caller-state.ts';
import type { Dependencies } from '../dependencies.ts';
import { askExtensions } from '../engines/builtin/extensions/ask-extensions.ts';
import { withEvents } from '../engines/builtin/extensions/run-voice.ts';
import { safeText } from '../engines/builtin/providers/safe-text.ts';

/** A result is read by a person: what is larger is a fault of the extension. */
const RESULT_LIMIT_BYTES = 256 * 1024;
const MOST_EVENTS = 100;

/**
 * Carries a call out.
 *
 * **Contract:** always an answer: what an extension throws, answers too large or too late is a problem that names it. A failure of a
 * command, a control or a login is said on the bus as well, as `error`.
 */
export async function answerExtensionCallOf(
  deps: Dependencies,
  call: ExtensionCallRow,
  stopping: AbortSignal,
): Promise<ExtensionAnswer> {
  const limitMs = EXTENSION_CALL_LIMIT_MS[call.kind];
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(limitMs)]);
  const events: EmittedEvent[] = [];
  const keep = (event: EmittedEvent): void => {
    if (events.length < MOST_EVENTS) events.push(event);
  };
  try {
    const result = await withEvents(keep, async () => {
      const caller = await callerStateOf(deps, call, signal);
      return await endedBy(signal, limitMs, askExtensions(deps.extensions, call, caller));
    });
    return { ok: true, ...bounded(call, { result: result ?? null, events }) };
  } catch (thrown) {
    const { code, message, remedy } = asError(call, thrown);
    deps.extensions.emit({ type: 'error', error: message });
    return { ok: false, code, message, remedy };
  }
}

async function endedBy<Result>(signal: AbortSignal, limitMs: number, work: Promise<Result>): Promise<Result> {
  const over = Promise.withResolvers<never>();
  const onAbort = (): void => {
    const { reason } = signal as { readonly reason: unknown };
    const isLate = reason instanceof DOMException && reason.name === 'TimeoutError';
    over.reject(isLate ? new Error(`it took over ${String(limitMs / 1000)} s`) : (reason as Error));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function bounded(
  call: ExtensionCallRow,
  answer: { result: unknown; events: EmittedEvent[] },
): { result: unknown; events: EmittedEvent[] } {
  const text = JSON.stringify(answer);
  if (Buffer.byteLength(text) > RESULT_LIMIT_BYTES) {
    throw new Error(`its result is over ${String(RESULT_LIMIT_BYTES)} bytes of JSON (${call.kind})`);
  }
  // as it will be read: what JSON cannot hold is gone here already
  return JSON.parse(text) as { result: unknown; events: EmittedEvent[] };
}

function asError(call: ExtensionCallRow, thrown: unknown): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown;
  const what = safeText(`${call.kind} ${call.name} failed: ${firstLineOf(thrown)}`, []);
  return new TidemarkError(
    'extension_failed',
    what,
    'See the extension that registers it, and the log of the workers.',
  );
}
