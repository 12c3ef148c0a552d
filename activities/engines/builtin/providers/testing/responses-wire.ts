import type { HttpProviderSettings } from '../http-provider.ts';
import { createOpenAICodex } from '../openai-codex.ts';
import { createOpenAIResponses } from '../openai-responses.ts';
import type { Provider } from '../provider.ts';
import { listOf, recordOf, stringOf, type JsonRecord } from '../untrusted-json.ts';
import type { Said, SaidAnswer, SaidUsage, WireScript } from './wire-script.ts';

const FAULTS = {
  overloaded: 'server_error',
  'rate-limited': 'rate_limit_exceeded',
  'too-long': 'context_length_exceeded',
  'logged-out': 'invalid_api_key',
};

export const responsesWire = scriptOf('openai-responses', createOpenAIResponses);
export const codexWire = scriptOf('openai-codex', createOpenAICodex);

/** The Responses API, as OpenAI's servers speak it. */
function scriptOf(api: string, create: (settings: HttpProviderSettings) => Provider): WireScript {
  return {
    api,
    path: '/v1/responses',
    hidesThinking: true,
    create,
    baseUrl: (address) => `${address}/v1`,
    stream(answer) {
      const items = itemsOf(answer.said);
      return [
        event('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [], usage: null } }),
        ...sideBySide(items.map(streamed)),
        ...(answer.end === null ? [] : [ended(answer)]),
      ];
    },
    whole: (answer) => responseOf(answer),
    fault: ({ kind, message }) =>
      event('response.failed', {
        response: { id: 'resp_1', status: 'failed', output: [], error: { code: FAULTS[kind], message }, usage: null },
      }),
    refusal: (message) => ({ error: { message, type: 'x', param: null, code: null } }),
    noise: [
      ': keep-alive\n\n',
      event('response.in_progress', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
      event('response.something.new', { delta: 'never seen' }),
    ],
    signature: (text, seal) => JSON.stringify(reasoningItem(text, seal)),
    keyIn: ({ authorization }) => stringOf(authorization).replace(/^Bearer /, ''),
    seen(body) {
      const items = listOf(body['input']).map((item) => recordOf(item) ?? {});
      const of = (type: string): JsonRecord[] => items.filter((item) => item['type'] === type);
      const results = of('function_call_output');
      return {
        system: body['instructions'] as string | undefined,
        tools: listOf(body['tools']).map((tool) => stringOf(recordOf(tool)?.['name'])),
        seals: of('reasoning').map((item) => stringOf(item['encrypted_content'])),
        calls: Object.fromEntries(
          of('function_call').map((call) => [
            call['call_id'],
            {
              input: JSON.parse(stringOf(call['arguments'])) as unknown,
              result: results.find((result) => result['call_id'] === call['call_id'])?.['output'] as string | undefined,
            },
          ]),
        ),
        texts: of('message').flatMap((item) =>
          listOf(item['content']).map((part) => stringOf(recordOf(part)?.['text'])),
        ),
      };
    },
  };
}

interface SaidItem {
  readonly item: JsonRecord;
  readonly pieces: readonly string[];
}

function itemsOf(said: readonly Said[]): SaidItem[] {
  return said.flatMap((block): SaidItem[] => {
    switch (block.type) {
      case 'text': {
        const part = { type: 'output_text', text: block.pieces.join(''), annotations: [] };
        return [{ item: { type: 'message', id: 'msg_1', role: 'assistant', content: [part] }, pieces: block.pieces }];
      }
      case 'refusal': {
        const part = { type: 'refusal', refusal: block.pieces.join('') };
        return [{ item: { type: 'message', id: 'msg_1', role: 'assistant', content: [part] }, pieces: block.pieces }];
      }
      case 'thinking':
        return [{ item: reasoningItem(block.pieces.join(''), block.seal), pieces: block.pieces }];
      case 'hidden-thinking':
        return [{ item: reasoningItem('', block.seal), pieces: [] }];
      case 'calls':
        return block.calls.map(({ id, name, pieces }) => ({
          item: { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: pieces.join('') },
          pieces,
        }));
    }
  });
}

function reasoningItem(text: string, seal: string): JsonRecord {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return { type: 'reasoning', id: 'rs_1', summary, encrypted_content: seal };
}

interface StreamedItem {
  readonly isCall: boolean;
  readonly parts: readonly string[];
}

function streamed(said: SaidItem, index: number): StreamedItem {
  const { item } = said;
  const empty = 'arguments' in item ? { ...item, arguments: '' } : { type: item['type'], id: item['id'] };
  return {
    isCall: item['type'] === 'function_call',
    parts: [
      event('response.output_item.added', { output_index: index, item: empty }),
      ...deltasOf(said, index),
      event('response.output_item.done', { output_index: index, item }),
    ],
  };
}

function deltasOf({ item, pieces }: SaidItem, index: number): string[] {
  const part = recordOf(listOf(item['content'])[0]);
  const type =
    item['type'] === 'function_call'
      ? 'response.function_call_arguments.delta'
      : item['type'] === 'reasoning'
        ? 'response.reasoning_summary_text.delta'
        : `response.${stringOf(part?.['type'])}.delta`;
  const opened =
    item['type'] === 'reasoning' && pieces.length > 0
      ? [event('response.reasoning_summary_part.added', { output_index: index, summary_index: 0 })]
      : [];
  return [...opened, ...pieces.map((delta) => event(type, { output_index: index, item_id: item['id'], delta }))];
}

/** Prose one after the other, calls side by side. */
function sideBySide(items: readonly StreamedItem[]): string[] {
  const calls = items.filter(({ isCall }) => isCall);
  const longest = Math.max(0, ...calls.map(({ parts }) => parts.length));
  const mixed = Array.from({ length: longest }, (_, at) => calls.flatMap(({ parts }) => parts[at] ?? []));
  return [...items.filter(({ isCall }) => !isCall).flatMap(({ parts }) => parts), ...mixed.flat()];
}

function ended(answer: SaidAnswer): string {
  const isWhole = answer.end === 'stop' || answer.end === 'tool-use';
  return event(isWhole ? 'response.completed' : 'response.incomplete', { response: responseOf(answer) });
}

function responseOf({ said, end, usage }: SaidAnswer): object {
  const isWhole = end === 'stop' || end === 'tool-use';
  return {
    id: 'resp_1',
    object: 'response',
    status: isWhole ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: isWhole ? null : { reason: end === 'filtered' ? 'content_filter' : 'max_output_tokens' },
    output: itemsOf(said).map(({ item }) => item),
    usage: usage === undefined ? null : counted(usage),
  };
}

function counted({ uncached, cached, output }: SaidUsage): object {
  return {
    input_tokens: uncached + cached,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: uncached + cached + output,
  };
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
