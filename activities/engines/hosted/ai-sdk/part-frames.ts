import type { NativeFrame } from '../../../../contract/frames.ts';
import { plainError, plainJson } from '../plain-json.ts';
import { fitted, piecesOf } from '../../wire/frame-fit.ts';
import type { StreamPart } from './agent-shape.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The text of a part that is a piece of one. */
const DELTAS: ReadonlyMap<string, string> = new Map([
  ['text-delta', 'text'],
  ['reasoning-delta', 'text'],
  ['tool-input-delta', 'delta'],
]);

/**
 * A part of a stream as the lane keeps it. A long piece of text is several frames; what a part tells of the request and the
 * response behind it is left out: it is large, and has what only the model's vendor is to see.
 */
export function framesOfPart(part: StreamPart): NativeFrame[] {
  const { type } = part;
  const shown = plainJson(withoutPrivate(part)) as Fields;
  const field = DELTAS.get(type);
  const text = field === undefined ? undefined : shown[field];
  if (field === undefined || typeof text !== 'string') return [fitted({ type, dir: 'recv', part: shown })];
  return piecesOf(text).map((piece) => fitted({ type, dir: 'recv', part: { ...shown, [field]: piece } }));
}

function withoutPrivate(part: StreamPart): Fields {
  switch (part.type) {
    case 'start-step':
      return { ...part, request: {} };
    case 'finish-step':
      return {
        ...part,
        response: withoutFields(part['response'], 'body', 'headers', 'messages'),
        usage: usageOf(part['usage']),
      };
    case 'finish':
      return { ...part, totalUsage: usageOf(part['totalUsage']) };
    case 'raw':
      return { type: part.type };
    case 'file':
    case 'reasoning-file':
      return { ...part, file: fileOf(part['file']) };
    case 'error':
    case 'tool-error':
      return { ...part, error: plainError(part['error']) };
    default:
      return part;
  }
}

function usageOf(usage: unknown): Fields {
  return withoutFields(usage, 'raw');
}

function fileOf(file: unknown): Fields {
  const { mediaType, base64 } = (file ?? {}) as { mediaType?: unknown; base64?: unknown };
  return { mediaType, ...(typeof base64 === 'string' ? { bytes: Buffer.byteLength(base64, 'base64') } : {}) };
}

function withoutFields(value: unknown, ...names: readonly string[]): Fields {
  const entries = Object.entries((value ?? {}) as Fields);
  return Object.fromEntries(entries.filter(([name]) => !names.includes(name)));
}
