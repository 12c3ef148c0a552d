import type { NativeFrame } from '../../../../contract/frames.ts';
import { plainJson } from '../plain-json.ts';
import { fitted, piecesOf, TEXT_LIMIT_CHARS } from '../../wire/frame-fit.ts';
import { isObject, type ProtocolEvent, type StreamChunk } from './graph-shape.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Of what a message is said with: where it comes from. The rest is the graph's configuration, the same in each. */
const ORIGIN = [
  ...['langgraph_node', 'langgraph_step', 'langgraph_checkpoint_ns', 'checkpoint_ns', 'run_id'],
  ...['tags', 'name', 'lc_agent_name', 'lc_source', 'ls_model_name'],
];
/** Where the blocks of a content have their text. */
const BLOCK_TEXTS = ['text', 'reasoning', 'thinking'] as const;
/** Events with the whole state of a graph, which says nothing that the others do not. */
const STATES: ReadonlySet<string> = new Set(['values', 'tasks', 'checkpoints']);

/** A chunk of a graph's stream modes as the lane keeps it. A long text of a message is several frames, each a chunk of it. */
export function framesOfChunk([namespace, mode, chunk]: StreamChunk): NativeFrame[] {
  const frame = (shown: unknown): NativeFrame => fitted({ type: mode, dir: 'recv', ...{ namespace, chunk: shown } });
  const shown = plainJson(chunk);
  if (mode !== 'messages' || !Array.isArray(shown)) return [frame(shown)];
  const [message, origin] = shown as [unknown, unknown];
  const from = isObject(origin)
    ? Object.fromEntries(ORIGIN.flatMap((name) => (name in origin ? [[name, origin[name]]] : [])))
    : {};
  return chunksOf(message).map((piece) => frame([piece, from]));
}

/** An event of a graph's protocol as the lane keeps it. */
export function framesOfEvent({ method, seq, params }: ProtocolEvent): NativeFrame[] {
  const frame = (shown: unknown): NativeFrame =>
    fitted({ type: 'event', dir: 'recv', ...{ method, seq, params: shown } });
  if (STATES.has(method)) {
    const { namespace, timestamp, node } = params;
    return [frame(plainJson({ namespace, timestamp, node }))];
  }
  const shown = plainJson(params) as Fields;
  const data = isObject(shown['data']) ? shown['data'] : {};
  const delta = isObject(data['delta']) ? data['delta'] : {};
  const text = delta['text'];
  if (method !== 'messages' || typeof text !== 'string' || text.length <= TEXT_LIMIT_CHARS) return [frame(shown)];
  return piecesOf(text).map((piece) => frame({ ...shown, data: { ...data, delta: { ...delta, text: piece } } }));
}

/** A message of the model as its chunks: what only the whole has is in the last. */
function chunksOf(message: unknown): unknown[] {
  const { kwargs, id: path } = (isObject(message) ? message : {}) as { kwargs?: Fields; id?: unknown };
  const kind = Array.isArray(path) ? String(path.at(-1)) : '';
  const contents = kind.startsWith('AIMessage') ? contentsOf(kwargs?.['content']) : [];
  if (contents.length < 2) return [message];
  const whole = { ...(message as Fields), id: [...(path as string[]).slice(0, -1), 'AIMessageChunk'] };
  return contents.map((content, i) => {
    const isLast = i === contents.length - 1;
    return { ...whole, kwargs: isLast ? { ...kwargs, content } : { id: kwargs?.['id'], content } };
  });
}

/** A content that is too long for one frame in pieces; one, or none, where it is not. */
function contentsOf(content: unknown): unknown[] {
  if (typeof content === 'string') return piecesOf(content);
  if (!Array.isArray(content) || !content.some((block) => textIn(block).text.length > TEXT_LIMIT_CHARS)) return [];
  return content.flatMap((block: unknown) => {
    const { field, text } = textIn(block);
    return piecesOf(text).map((piece) => [field === null ? block : { ...(block as Fields), [field]: piece }]);
  });
}

function textIn(block: unknown): { readonly field: string | null; readonly text: string } {
  const field = isObject(block) ? (BLOCK_TEXTS.find((name) => typeof block[name] === 'string') ?? null) : null;
  return { field, text: field === null ? '' : String((block as Fields)[field]) };
}
