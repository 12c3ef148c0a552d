import { createOpenAICompletions } from '../openai-completions.ts';
import { listOf, recordOf, stringOf } from '../untrusted-json.ts';
import { chunk, data, DONE } from './wire-server.ts';
import type { Said, SaidAnswer, SaidUsage, WireScript } from './wire-script.ts';

const FINISH = { stop: 'stop', 'tool-use': 'tool_calls', length: 'length', filtered: 'content_filter' } as const;
const FAULTS = {
  overloaded: { type: 'server_error', code: 'server_overloaded' },
  'rate-limited': { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  'too-long': { type: 'invalid_request_error', code: 'context_length_exceeded' },
  'logged-out': { type: 'authentication_error', code: 'invalid_api_key' },
} as const;

/** Chat Completions, as OpenAI's servers and those that follow them speak it. */
export const completionsWire: WireScript = {
  api: 'openai-completions',
  path: '/v1/chat/completions',
  hidesThinking: false,
  create: (settings) => createOpenAICompletions(settings),
  baseUrl: (address) => `${address}/v1`,
  stream: ({ said, end, usage }) => [
    chunk({ role: 'assistant', content: '' }),
    ...said.flatMap(deltas).map((delta) => chunk(delta)),
    ...(end === null ? [] : [chunk({}, FINISH[end])]),
    ...(usage === undefined ? [] : [data({ id: 'c', choices: [], usage: counted(usage) })]),
    ...(end === null ? [] : [DONE]),
  ],
  whole: ({ said, end, usage }: SaidAnswer) => ({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: merged(said), finish_reason: end === null ? null : FINISH[end] }],
    usage: usage && counted(usage),
  }),
  fault: ({ kind, message }) => data({ error: { ...FAULTS[kind], message, param: null } }),
  refusal: (message) => ({ error: { message, type: 'x', param: null, code: null } }),
  noise: [': keep-alive\n\n', data({ id: 'c', object: 'chat.completion.chunk', choices: [], usage: null })],
  signature: () => 'reasoning_content',
  keyIn: ({ authorization }) => stringOf(authorization).replace(/^Bearer /, ''),
  seen(body) {
    const messages = listOf(body['messages']).map((message) => recordOf(message) ?? {});
    const results = messages.filter(({ role }) => role === 'tool');
    const calls = messages.flatMap((message) => listOf(message['tool_calls'])).map((call) => recordOf(call) ?? {});
    return {
      system: messages.find(({ role }) => role === 'system')?.['content'] as string | undefined,
      tools: listOf(body['tools']).map((tool) => stringOf(recordOf(recordOf(tool)?.['function'])?.['name'])),
      seals: messages.flatMap((message) => ('reasoning_content' in message ? ['reasoning_content'] : [])),
      calls: Object.fromEntries(
        calls.map(({ id, function: named }) => [
          id,
          {
            input: JSON.parse(stringOf(recordOf(named)?.['arguments'])) as unknown,
            result: results.find(({ tool_call_id: of }) => of === id)?.['content'] as string | undefined,
          },
        ]),
      ),
      texts: messages.flatMap(({ role, content }) =>
        role === 'user' || role === 'assistant' ? [stringOf(content)].filter((text) => text !== '') : [],
      ),
    };
  },
};

function deltas(said: Said): object[] {
  switch (said.type) {
    case 'text':
      return said.pieces.map((content) => ({ content }));
    case 'refusal':
      return said.pieces.map((refusal) => ({ refusal }));
    case 'thinking':
      return said.pieces.map((piece) => ({ reasoning_content: piece }));
    case 'hidden-thinking':
      return [];
    case 'calls': {
      const begun = said.calls.map(({ id, name }, index) => ({
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
      }));
      const longest = Math.max(...said.calls.map(({ pieces }) => pieces.length));
      const interleaved = Array.from({ length: longest }, (_, at) =>
        said.calls.flatMap(({ pieces }, index) =>
          pieces[at] === undefined ? [] : [{ tool_calls: [{ index, function: { arguments: pieces[at] } }] }],
        ),
      );
      return [...begun, ...interleaved.flat()];
    }
  }
}

function merged(said: readonly Said[]): object {
  const text = (type: Said['type']): string | null =>
    said.map((block) => (block.type === type && 'pieces' in block ? block.pieces.join('') : '')).join('') || null;
  const calls = said.flatMap((block) => (block.type === 'calls' ? block.calls : []));
  return {
    role: 'assistant',
    content: text('text'),
    refusal: text('refusal'),
    ...(text('thinking') === null ? {} : { reasoning_content: text('thinking') }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, pieces }) => ({
            id,
            type: 'function',
            function: { name, arguments: pieces.join('') },
          })),
        }),
  };
}

function counted({ uncached, cached, output }: SaidUsage): object {
  return {
    prompt_tokens: uncached + cached,
    completion_tokens: output,
    total_tokens: uncached + cached + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
