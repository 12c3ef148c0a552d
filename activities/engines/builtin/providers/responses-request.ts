import type { AgentContext, Message, Tool } from '../../../../contract/agent-messages.ts';
import { turnsOf, withoutTrailingThinking, type Asked, type TurnBlock } from './conversation.ts';
import { reasoningItemIn } from './reasoning-item.ts';

const ALLOWED_IDS = /^[\w-]{1,64}$/;

/**
 * The conversation as the Responses API wants it: a flat list of items. Nothing is kept at the provider, so sealed
 * reasoning goes back whole.
 */
export function convertMessages(messages: readonly Message[], asked: Asked): object[] {
  return turnsOf(messages, asked, ALLOWED_IDS).flatMap((turn) => {
    if (turn.role === 'user') {
      return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: turn.text }] }];
    }
    const items = withoutTrailingThinking(turn.blocks).flatMap(itemsOf);
    const results = turn.blocks.flatMap((block) =>
      block.type === 'tool-call'
        ? [{ type: 'function_call_output', call_id: block.id, output: block.result.text }]
        : [],
    );
    return [...items, ...results];
  });
}

export function convertTools(tools: readonly Tool[]): object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    // strict mode takes only a part of JSON Schema, and tools are checked where they run
    strict: false,
  }));
}

export interface BodyOptions {
  readonly asked: Asked;
  readonly boundsTokens: boolean;
  readonly asksForSummary: boolean;
  readonly asksForSealedReasoning: boolean;
}

export function buildBody(model: string, context: AgentContext, options: BodyOptions): object {
  const { systemPrompt, tools, maxTokens } = context;
  return {
    model,
    ...(systemPrompt === undefined || systemPrompt === '' ? {} : { instructions: systemPrompt }),
    input: convertMessages(context.messages, options.asked),
    ...(tools.length > 0 ? { tools: convertTools(tools) } : {}),
    ...(options.boundsTokens ? { max_output_tokens: maxTokens } : {}),
    ...(options.asksForSummary ? { reasoning: { summary: 'auto' } } : {}),
    ...(options.asksForSealedReasoning ? { include: ['reasoning.encrypted_content'] } : {}),
    store: false,
    stream: true,
  };
}

function itemsOf(block: TurnBlock): object[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: block.text }] }];
    case 'thinking': {
      const item = reasoningItemIn(block.thinkingSignature);
      return item === null ? [] : [item];
    }
    case 'tool-call': {
      const { id, name, arguments: args } = block;
      return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) }];
    }
  }
}
