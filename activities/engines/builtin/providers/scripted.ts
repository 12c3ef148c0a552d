import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentContext, AssistantMessage, StopReason } from '../../../../contract/agent-messages.ts';
import { conclude, type Outcome } from './conclude.ts';
import { MessageAssembler } from './message-assembler.ts';
import type { CallOptions, OnProviderEvent, Provider, ProviderEvent } from './provider.ts';
import { loadScenarios } from './scenario.ts';
import { playTurn, type Played } from './scripted-turn.ts';

const NAME = 'scripted';
const STALLED: Outcome = {
  kind: 'failed',
  failure: { code: 'provider_stalled', retryable: true, message: 'the provider went silent' },
};

/**
 * The demo model: it plays scenario files, says so, and needs no key. Which turn comes next follows from the conversation
 * alone, so a repeated step says the same again. `pace` multiplies every delay.
 */
export function createScripted({ pace = 1 }: { readonly pace?: number } = {}): Provider {
  const scenarios = loadScenarios();
  const bodyOf = (model: string, context: AgentContext): Played => {
    const scenario = scenarios.get(model);
    if (scenario === undefined) throw new Error(`no scenario is named ${model}`);
    return playTurn(scenario, context.messages);
  };
  return {
    name: NAME,
    api: NAME,
    async complete(model, context, options, onEvent) {
      const turn = bodyOf(model, context);
      const assembler = new MessageAssembler(options.toolCallId);
      await onEvent?.({ type: 'start' });
      const outcome = await stream(turn, assembler, pace, options, onEvent);
      const { message, events } = conclude(assembler, origin(model), outcome, turn.usage);
      for (const event of events) await onEvent?.(event);
      return message;
    },
    convertMessages: (messages) => messages,
    convertTools: (tools) => tools,
    mapStopReason: (reason) => STOP_REASONS.find((known) => known === reason) ?? (reason === null ? 'stop' : 'error'),
    parseResponse: (response, model, toolCallId) => replay(response as Played, model, toolCallId),
    buildBody: bodyOf,
  };
}

const STOP_REASONS: readonly StopReason[] = ['stop', 'length', 'tool-use', 'error', 'aborted'];

function origin(model: string): { api: string; provider: string; model: string } {
  return { api: NAME, provider: NAME, model };
}

async function stream(
  turn: Played,
  assembler: MessageAssembler,
  pace: number,
  options: CallOptions,
  onEvent?: OnProviderEvent,
): Promise<Outcome> {
  const { signal, stallMs } = options;
  for (const piece of turn.pieces) {
    const delayMs = piece.delayMs * pace;
    try {
      await sleep(Math.min(delayMs, stallMs), undefined, { signal });
    } catch {
      return { kind: 'aborted' };
    }
    if (delayMs > stallMs) return STALLED;
    for (const event of speak(piece, assembler)) await onEvent?.(event);
  }
  return outcomeOf(turn);
}

function replay(turn: Played, model: string, toolCallId: CallOptions['toolCallId']): AssistantMessage {
  const assembler = new MessageAssembler(toolCallId);
  for (const piece of turn.pieces) speak(piece, assembler);
  return conclude(assembler, origin(model), outcomeOf(turn), turn.usage).message;
}

function speak(piece: Played['pieces'][number], assembler: MessageAssembler): ProviderEvent[] {
  return piece.type === 'tool-call' ? assembler.call(piece.call) : assembler.say(piece.type, piece.text);
}

function outcomeOf(turn: Played): Outcome {
  return turn.error === undefined ? { kind: 'answered', stopReason: 'stop' } : { kind: 'failed', failure: turn.error };
}
