import type { AgentContext, Message, Tool } from '../../../../contract/agent-messages.ts';
import { callsOf, turnsOf, withoutTrailingThinking, type Asked, type TurnBlock } from './conversation.ts';

const ALLOWED_IDS = /^[\w-]{1,64}$/;
const MIN_THINKING_TOKENS = 1_024;
/** The endpoint refuses a blank text, and an answer needs a question. */
const NO_TEXT = '(no text)';
const CACHED = { cache_control: { type: 'ephemeral' } } as const;

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly WireBlock[];
}

interface WireBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * The conversation as the Messages API wants it: users and assistant take turns, and the results of all calls of a message
 * open the next one. Blank texts, which the endpoint refuses, are left out.
 */
export function convertMessages(messages: readonly Message[], asked: Asked): WireMessage[] {
  const said = turnsOf(messages, asked, ALLOWED_IDS).flatMap((turn): WireMessage[] => {
    if (turn.role === 'user')
      return [{ role: 'user', content: [{ type: 'text', text: turn.text.trim() === '' ? NO_TEXT : turn.text }] }];
    const results = callsOf(turn.blocks).map(({ id, result }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: result.text,
      ...(result.isError ? { is_error: true } : {}),
    }));
    return [
      { role: 'assistant', content: withoutTrailingThinking(turn.blocks).flatMap(blocksOf) },
      { role: 'user', content: results },
    ];
  });
  return said.reduce<WireMessage[]>((turns, { role, content }) => {
    const last = turns.at(-1);
    if (content.length === 0) return turns;
    if (last?.role !== role) return [...turns, { role, content }];
    return [...turns.slice(0, -1), { role, content: [...last.content, ...content] }];
  }, []);
}

export function convertTools(tools: readonly Tool[]): WireTool[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
}

interface WireTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
}

/** `adaptive`: the model chooses; a number bounds it; not given: the model's own default. */
export type Thinking = 'adaptive' | number | undefined;

export interface BodyOptions {
  readonly asked: Asked;
  readonly thinking: Thinking;
}

/** What a prompt shares with the one before is marked for the cache: tools and system prompt, and the conversation so far. */
export function buildBody(model: string, context: AgentContext, { asked, thinking }: BodyOptions): object {
  const { systemPrompt, tools, maxTokens } = context;
  const messages = convertMessages(context.messages, asked);
  const hasSystem = systemPrompt !== undefined && systemPrompt.trim() !== '';
  const wireTools = convertTools(tools);
  return {
    model,
    max_tokens: maxTokens,
    ...(hasSystem ? { system: [{ type: 'text', text: systemPrompt, ...CACHED }] } : {}),
    ...(tools.length > 0 ? { tools: hasSystem ? wireTools : withMarkOnLast(wireTools) } : {}),
    messages: messages.map((message, n) =>
      n === messages.length - 1 && message.role === 'user'
        ? { ...message, content: withMarkOnLast(message.content) }
        : message,
    ),
    ...thinkingOf(thinking, maxTokens, messages),
    stream: true,
  };
}

function withMarkOnLast<T extends object>(items: readonly T[]): T[] {
  return items.map((item, n) => (n === items.length - 1 ? { ...item, ...CACHED } : item));
}

/**
 * A budget must be under `max_tokens`, and with one, each message of the tool loop that goes on must begin with its
 * reasoning: a loop that began without any is finished without.
 */
function thinkingOf(thinking: Thinking, maxTokens: number, messages: readonly WireMessage[]): object {
  if (thinking === undefined) return {};
  if (thinking === 'adaptive') return { thinking: { type: 'adaptive', display: 'summarized' } };
  const lastSpoken = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.every((block) => block.type !== 'tool_result'),
  );
  const loop = messages.slice(lastSpoken + 1).filter(({ role }) => role === 'assistant');
  const budget = Math.min(thinking, maxTokens - 1);
  const isPossible = loop.every(({ content }) => content[0]?.type.endsWith('thinking') === true);
  if (budget < MIN_THINKING_TOKENS || !isPossible) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

function blocksOf(block: TurnBlock): WireBlock[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [{ type: 'text', text: block.text }];
    case 'thinking': {
      const { thinking, thinkingSignature: signature, redacted } = block;
      if (signature === undefined) return [];
      if (redacted === true) return [{ type: 'redacted_thinking', data: signature }];
      return [{ type: 'thinking', thinking, signature }];
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: block.arguments }];
  }
}
