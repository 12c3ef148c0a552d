import type { AgentContext, Message, Tool } from '../../../../contract/agent-messages.ts';
import { callsOf, turnsOf, type AnsweredCall, type Asked, type TurnBlock } from './conversation.ts';
import { REASONING_FIELDS } from './openai-answer.ts';

/** OpenAI takes ids of up to 40 characters. */
const ALLOWED_IDS = /^[^]{1,40}$/;

/** The conversation as Chat Completions wants it. */
export function convertMessages(messages: readonly Message[], asked: Asked): object[] {
  return turnsOf(messages, asked, ALLOWED_IDS).flatMap((turn) => {
    if (turn.role === 'user') return [{ role: 'user', content: turn.text }];
    const calls = callsOf(turn.blocks);
    const content = turn.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const assistant = {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(turn.isCurrent ? reasoningOf(turn.blocks) : {}),
      ...(calls.length > 0 ? { tool_calls: calls.map(wireCall) } : {}),
    };
    return [assistant, ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result.text }))];
  });
}

export function convertTools(tools: readonly Tool[]): object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

export interface BodyOptions {
  readonly asked: Asked;
  /** OpenAI's own models refuse `max_tokens`; most other servers know nothing else. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly asksForUsage: boolean;
}

export function buildBody(model: string, context: AgentContext, options: BodyOptions): object {
  const { systemPrompt, tools, maxTokens } = context;
  const system = systemPrompt === undefined || systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  return {
    model,
    messages: [...system, ...convertMessages(context.messages, options.asked)],
    ...(tools.length > 0 ? { tools: convertTools(tools) } : {}),
    [options.maxTokensField]: maxTokens,
    stream: true,
    ...(options.asksForUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

/** Reasoning goes back only while its turn goes on, under the name that it came by: some servers insist on both. */
function reasoningOf(turn: readonly TurnBlock[]): Record<string, string> {
  const blocks = turn.filter((block) => block.type === 'thinking');
  const field = REASONING_FIELDS.find((name) => blocks.some((block) => block.thinkingSignature === name));
  return field === undefined ? {} : { [field]: blocks.map((block) => block.thinking).join('') };
}

function wireCall({ id, name, arguments: args }: AnsweredCall): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}
