import type { AgentContext } from '../../../../contract/agent-messages.ts';
import { TidemarkError } from '../../../../contract/errors.ts';
import type { AuthBackend } from '../auth/auth-backend.ts';
import { conclude, type Outcome } from './conclude.ts';
import { exchange, type Exchange } from './exchange.ts';
import type { Failure } from './failure.ts';
import { MessageAssembler } from './message-assembler.ts';
import type { Protocol } from './protocol.ts';
import type { CallOptions, OnProviderEvent, Provider } from './provider.ts';
import { WishList } from './wish-list.ts';

export interface HttpProviderSettings {
  readonly name: string;
  readonly auth: AuthBackend;
  readonly baseUrl: string;
}

/**
 * A provider of one protocol at one address.
 *
 * **Contract:** the key is asked for at each call. A request is sent again only where nothing of an answer was said: without
 * the part that the server refused by name, or with another key in place of one that was turned down. All else is left to
 * the loop's retries.
 */
export function createHttpProvider(protocol: Protocol, { name, auth, baseUrl }: HttpProviderSettings): Provider {
  const { api } = protocol;
  const wishes = new WishList(protocol.wishes);
  const bodyOf = (model: string, context: AgentContext): object =>
    protocol.buildBody(context, { provider: name, api, model }, wishes.granted(model));

  async function ask(call: Call): Promise<Exchange> {
    const { model, context, options, onEvent } = call;
    let apiKey = await keyOf(auth, options);
    let hasNewKey = false;
    for (;;) {
      if (typeof apiKey !== 'string') return unsent(apiKey, options);
      const made = await exchange(
        { protocol, server: { apiKey, baseUrl }, body: bodyOf(model, context) },
        options,
        onEvent,
      );
      if (made.outcome.kind !== 'failed' || made.hasSaid) return made;
      const { failure } = made.outcome;
      if (wishes.giveUp(model, failure)) continue;
      if (failure.code !== 'provider_auth' || hasNewKey) return made;
      const other = await keyOf(auth, options, apiKey);
      if (other === apiKey || typeof other !== 'string') return made;
      apiKey = other;
      hasNewKey = true;
    }
  }

  return {
    name,
    api,
    async complete(model, context, options, onEvent) {
      await onEvent?.({ type: 'start' });
      const { assembler, outcome, usage } = await ask({ model, context, options, onEvent });
      const { message, events } = conclude(assembler, { api, provider: name, model }, outcome, usage);
      for (const event of events) await onEvent?.(event);
      return message;
    },
    convertMessages: (messages) => protocol.convertMessages(messages, { provider: name, api }),
    convertTools: (tools) => protocol.convertTools(tools),
    mapStopReason: (reason) => protocol.mapStopReason(reason),
    parseResponse(response, model, toolCallId) {
      const assembler = new MessageAssembler(toolCallId);
      const reader = protocol.readerFor(assembler);
      reader.readWhole(response);
      const outcome = reader.outcome ?? { kind: 'answered', stopReason: 'stop' };
      return conclude(assembler, { api, provider: name, model }, outcome, reader.usage).message;
    },
    buildBody: bodyOf,
  };
}

interface Call {
  readonly model: string;
  readonly context: AgentContext;
  readonly options: CallOptions;
  readonly onEvent: OnProviderEvent | undefined;
}

/** The key, or why there is none. A caller that stops does not wait for it. */
async function keyOf(auth: AuthBackend, { signal }: CallOptions, refused?: string): Promise<string | Outcome> {
  const stopped = Promise.withResolvers<Outcome>();
  const stop = (): void => stopped.resolve({ kind: 'aborted' });
  if (signal.aborted) return { kind: 'aborted' };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const key = await Promise.race([auth.apiKey(refused), stopped.promise]);
    return key ?? failed({ code: 'provider_auth', retryable: false, message: `there is no key (${auth.name})` });
  } catch (error) {
    if (!(error instanceof TidemarkError)) throw error;
    const { code, message } = error;
    return failed({ code, retryable: code !== 'provider_auth', message });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function failed(failure: Failure): Outcome {
  return { kind: 'failed', failure };
}

function unsent(outcome: Outcome, options: CallOptions): Exchange {
  return { assembler: new MessageAssembler(options.toolCallId), usage: undefined, outcome, hasSaid: false };
}
