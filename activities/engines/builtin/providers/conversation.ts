import type {
  AssistantMessage,
  Message,
  TextContent,
  ThinkingContent,
  ToolResultMessage,
} from '../../../../contract/agent-messages.ts';
import { textOf } from '../../../../contract/agent-messages.ts';
import { WireIds } from './wire-ids.ts';

/** Who is asked. Reasoning is sealed by the model that made it, and goes back to no other one. */
export interface Asked {
  readonly provider: string;
  readonly api: string;
  /** Not given: any model of the provider. */
  readonly model?: string;
}

/** A tool call with its result, as every API wants them: together. */
export interface AnsweredCall {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: { readonly text: string; readonly isError: boolean };
}

export type TurnBlock = TextContent | ThinkingContent | AnsweredCall;

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly blocks: readonly TurnBlock[];
      /** Whether no user has spoken since. */
      readonly isCurrent: boolean;
    };

const NO_RESULT = 'error: the tool call was not completed; its outcome is unknown';

/**
 * The conversation in the form that all APIs can take.
 *
 * **Contract:** what an endpoint refuses for ever is never in it: each tool call has exactly one result (an error one is made
 * up where none is known), a result without its call is left out, so are assistant messages that failed or say nothing.
 * Ids are the provider's own where `allowedIds` takes them, or short ones made from the position. Reasoning is there only
 * for who said it.
 */
export function turnsOf(messages: readonly Message[], asked: Asked, allowedIds: RegExp): Turn[] {
  const results = new Map<string, ToolResultMessage>();
  for (const message of messages) if (message.role === 'tool-result') results.set(message.toolCallId, message);
  const ids = new WireIds(allowedIds);
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  return messages.flatMap((message, index): Turn[] => {
    if (message.role === 'user') return [{ role: 'user', text: textOf(message.content) }];
    if (message.role === 'tool-result' || message.stopReason === 'error') return [];
    const echoes = isBy(message, asked);
    const blocks = message.content.flatMap((block): TurnBlock[] => {
      if (block.type === 'text') return block.text === '' ? [] : [block];
      if (block.type === 'thinking') return echoes ? [block] : [];
      const { name, arguments: args } = block;
      return [
        {
          type: 'tool-call',
          id: ids.take(block),
          name: wireName(name),
          arguments: args,
          result: resultOf(results.get(block.id)),
        },
      ];
    });
    if (blocks.every((block) => block.type === 'thinking')) return [];
    return [{ role: 'assistant', blocks, isCurrent: index > lastUser }];
  });
}

export function callsOf(blocks: readonly TurnBlock[]): AnsweredCall[] {
  return blocks.filter((block) => block.type === 'tool-call');
}

/** Reasoning that nothing follows: its answer was cut, and the APIs that seal reasoning refuse it alone. */
export function withoutTrailingThinking(blocks: readonly TurnBlock[]): readonly TurnBlock[] {
  return blocks.slice(0, blocks.findLastIndex((block) => block.type !== 'thinking') + 1);
}

function isBy({ provider, api, model }: AssistantMessage, asked: Asked): boolean {
  if (provider !== asked.provider || (api !== undefined && api !== asked.api)) return false;
  return model === undefined || asked.model === undefined || model === asked.model;
}

function resultOf(result: ToolResultMessage | undefined): AnsweredCall['result'] {
  if (result === undefined) return { text: NO_RESULT, isError: true };
  const { isError } = result;
  return { text: textOf(result.content) || (isError ? 'error: the tool gave no reason' : '(no output)'), isError };
}

/** A name that the endpoint would refuse must not make the whole history unusable. */
function wireName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}
