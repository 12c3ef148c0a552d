import type { HookContext, HookRecord } from '../../../../contract/extensions/register-kinds.ts';
import type { Registered } from '../../../../contract/extensions/registry.ts';
import { firstLineOf } from '../../../../contract/extensions/event-bus.ts';

/** A hook that says nothing for so long has not allowed the call. */
const HOOK_LIMIT_MS = 10_000;
const REASON_CHARS = 500;

export interface HookedCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: Omit<HookContext, 'signal'>;
  /** When it aborts, there is no time left for any hook: the look at all calls of a message is bounded, too. */
  readonly within: AbortSignal;
}

/**
 * Asks the hooks about a call, in the order of their registration; the first veto wins, and no later one is asked.
 *
 * **Contract:** fails closed (source facts, C.3): a hook that throws, answers something else or is silent too long blocks the
 * call, and `onFailure` is told. Each gets a copy of the arguments. Gives the reason of the veto, or null.
 */
export async function vetoOf(
  hooks: readonly Registered<'hook'>[],
  call: HookedCall,
  onFailure: (failure: { readonly owner: string; readonly error: string }) => void,
): Promise<string | null> {
  for (const { owner, record } of hooks) {
    try {
      const veto = await answerOf(record, call);
      if (veto !== null) return veto;
    } catch (thrown) {
      const error = firstLineOf(thrown);
      onFailure({ owner, error });
      return `policy hook failed: ${error}`;
    }
  }
  return null;
}

async function answerOf(hook: HookRecord, { toolName, args, context, within }: HookedCall): Promise<string | null> {
  const signal = AbortSignal.any([AbortSignal.timeout(HOOK_LIMIT_MS), within]);
  const late = Promise.withResolvers<never>();
  const onAbort = (): void => late.reject(new Error('no answer in time'));
  if (signal.aborted) throw new Error('no answer in time');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const asked = Promise.resolve(hook.beforeTool(toolName, structuredClone(args), { ...context, signal }));
    const answer: unknown = await Promise.race([asked, late.promise]);
    return vetoIn(answer);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Nothing, or an object that does not block, allows; `block` must be a boolean, so that a slip does not allow. */
function vetoIn(answer: unknown): string | null {
  if (answer === null || answer === undefined) return null;
  if (typeof answer !== 'object') throw new Error('the answer of the hook is no object');
  const { block, reason } = answer as { readonly block?: unknown; readonly reason?: unknown };
  if (block === undefined || block === false) return null;
  if (block !== true) throw new Error('block must be true or false');
  return typeof reason === 'string' && reason !== ''
    ? reason.slice(0, REASON_CHARS).toWellFormed()
    : 'no reason was given';
}
