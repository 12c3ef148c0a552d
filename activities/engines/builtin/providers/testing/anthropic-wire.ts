import { createAnthropicMessages } from '../anthropic-messages.ts';
import { listOf, recordOf, stringOf, type JsonRecord } from '../untrusted-json.ts';
import type { Said, SaidAnswer, SaidUsage, WireScript } from './wire-script.ts';

const STOPS = { stop: 'end_turn', 'tool-use': 'tool_use', length: 'max_tokens', filtered: 'refusal' } as const;
const FAULTS = {
  overloaded: 'overloaded_error',
  'rate-limited': 'rate_limit_error',
  'too-long': 'invalid_request_error',
  'logged-out': 'authentication_error',
};

/** The Messages API, as Anthropic's servers speak it. */
export const anthropicWire: WireScript = {
  api: 'anthropic-messages',
  path: '/v1/messages',
  hidesThinking: true,
  create: (settings) => createAnthropicMessages(settings),
  baseUrl: (address) => address,
  stream: ({ said, end, usage }) => [
    event('message_start', {
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: usage && counted(usage, 1) },
    }),
    ...said.flatMap(blocksOf).flatMap(streamed),
    ...(end === null
      ? []
      : [
          event('message_delta', {
            delta: { stop_reason: STOPS[end], stop_sequence: null },
            usage: { output_tokens: usage?.output ?? 0 },
          }),
          event('message_stop', {}),
        ]),
  ],
  whole: ({ said, end, usage }: SaidAnswer) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: said.flatMap(blocksOf).map(({ block }) => block),
    stop_reason: end === null ? null : STOPS[end],
    usage: usage && counted(usage, usage.output),
  }),
  fault: ({ kind, message }) => event('error', { error: { type: FAULTS[kind], message } }),
  refusal: (message) => ({ type: 'error', error: { type: 'x', message } }),
  noise: [event('ping', {}), ': keep-alive\n\n', event('something_new', { index: 0, delta: { text: 'never seen' } })],
  signature: (_text, seal) => seal,
  // since its 1.x the SDK sends keys as bearer tokens
  keyIn: ({ authorization }) => stringOf(authorization).replace(/^Bearer /, ''),
  seen(body) {
    const messages = listOf(body['messages']).map((message) => recordOf(message) ?? {});
    const blocks = messages.flatMap((message) => listOf(message['content']).map((block) => recordOf(block) ?? {}));
    const of = (type: string): JsonRecord[] => blocks.filter((block) => block['type'] === type);
    const results = of('tool_result');
    return {
      system: listOf(body['system'])
        .map((block) => stringOf(recordOf(block)?.['text']))
        .at(0),
      tools: listOf(body['tools']).map((tool) => stringOf(recordOf(tool)?.['name'])),
      seals: blocks.flatMap((block) => stringOf(block['signature']) || stringOf(block['data']) || []),
      calls: Object.fromEntries(
        of('tool_use').map((call) => [
          call['id'],
          {
            input: call['input'],
            result: results.find((result) => result['tool_use_id'] === call['id'])?.['content'] as string | undefined,
          },
        ]),
      ),
      texts: of('text').map((block) => stringOf(block['text'])),
    };
  },
};

interface SaidBlock {
  /** The block as a whole answer holds it. */
  readonly block: JsonRecord;
  readonly deltas: readonly object[];
}

function blocksOf(said: Said): SaidBlock[] {
  switch (said.type) {
    case 'text':
    case 'refusal':
      return [
        {
          block: { type: 'text', text: said.pieces.join('') },
          deltas: said.pieces.map((text) => ({ type: 'text_delta', text })),
        },
      ];
    case 'thinking':
      return [
        {
          block: { type: 'thinking', thinking: said.pieces.join(''), signature: said.seal },
          deltas: [
            ...said.pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: said.seal },
          ],
        },
      ];
    case 'hidden-thinking':
      return [{ block: { type: 'redacted_thinking', data: said.seal }, deltas: [] }];
    case 'calls':
      return said.calls.map(({ id, name, pieces }) => ({
        block: { type: 'tool_use', id, name, input: inputOf(pieces.join('')) },
        deltas: pieces.map((json) => ({ type: 'input_json_delta', partial_json: json })),
      }));
  }
}

function streamed({ block, deltas }: SaidBlock, index: number): string[] {
  const blank = { text: '', thinking: '', signature: '', input: {} };
  const opening = Object.entries(block).map(([name, value]) => [name, name in blank ? blank[name as 'text'] : value]);
  return [
    event('content_block_start', { index, content_block: Object.fromEntries(opening) as JsonRecord }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

function inputOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function counted({ uncached, cached }: SaidUsage, output: number): object {
  return {
    input_tokens: uncached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  };
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
