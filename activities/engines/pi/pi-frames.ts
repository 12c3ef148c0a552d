import { fitted, piecesOf } from '../wire/frame-fit.ts';
import type { WireFrame } from '../wire/wire-frame.ts';
import { appendedOutput } from './appended-output.ts';
import { CHANGE_STATUS } from './extension/protocol.ts';
import { textOf, ToolResult } from './pi-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A line that pi says, or is told. */
export interface PiMessage extends Fields {
  readonly type: string;
}

/** Tools whose output is a terminal's: of a long one pi gives the end. */
export const SHELL_TOOLS: ReadonlySet<string> = new Set(['bash', 'powershell']);

const TEXT_DELTAS: Readonly<Record<string, string>> = { text_end: 'text_delta', thinking_end: 'thinking_delta' };
const MODEL_FIELDS = ['id', 'name', 'api', 'provider', 'reasoning', 'contextWindow', 'maxTokens'];

/**
 * Turns the messages of one pi process into the frames that a lane keeps.
 *
 * **Contract:** what pi says again and again is kept once: the message so far in each piece of it, the output so far in each update
 * of a tool, the whole conversation at the end of a run. All text of the model is in pieces (`text_delta`, `thinking_delta`), none
 * of them longer than a frame holds, also where it came whole. Neither what pi tells its model before all else is kept, nor what a
 * model's configuration has beside its name. Each frame is one that the lane takes as it is.
 */
export class PiFrames {
  /** The blocks of the message at hand that came in pieces. */
  readonly #inPieces = new Set<number>();
  /** What the tools at work have printed so far. */
  readonly #printed = new Map<string, string>();

  framesOf(dir: WireFrame['dir'], message: PiMessage): WireFrame[] {
    const frames = dir === 'recv' ? this.#received(message) : [message];
    return frames.map((fields) => fitted({ ...fields, dir }));
  }

  #received(message: PiMessage): PiMessage[] {
    switch (message.type) {
      case 'response':
        return [response(message)];
      case 'message_start':
        if (fieldsOf(message['message'])['role'] === 'assistant') this.#inPieces.clear();
        return [{ type: message.type, message: { role: fieldsOf(message['message'])['role'] } }];
      case 'message_update':
        return this.#update(fieldsOf(message['assistantMessageEvent']));
      case 'message_end':
        return this.#messageEnd(fieldsOf(message['message']));
      case 'turn_end':
        return [{ type: message.type, message: only(fieldsOf(message['message']), ['role', 'stopReason']) }];
      case 'agent_end':
        return [{ type: message.type, ...only(message, ['willRetry']) }];
      case 'tool_execution_update':
        return this.#toolUpdate(message);
      case 'tool_execution_end':
        this.#printed.delete(String(message['toolCallId']));
        return [{ ...message, result: withoutData(fieldsOf(message['result'])) }];
      case 'entry_appended':
        return [{ type: message.type, entry: only(fieldsOf(message['entry']), ['type', 'customType']) }];
      case 'extension_ui_request':
        // both texts of a file: the driver has them kept
        return message['statusKey'] === CHANGE_STATUS ? [{ ...message, statusText: '' }] : [message];
      default:
        return [message];
    }
  }

  #update(event: Fields): PiMessage[] {
    const { partial: _, content, ...said } = event;
    const index = Number(said['contentIndex']);
    const type = String(said['type']);
    const update = (fields: Fields): PiMessage => ({ type: 'message_update', assistantMessageEvent: fields });
    if (typeof said['delta'] === 'string') {
      this.#inPieces.add(index);
      return piecesOf(said['delta']).map((delta) => update({ ...said, delta }));
    }
    const delta = TEXT_DELTAS[type];
    return [...(delta === undefined ? [] : this.#unsaid({ type: delta, index, content })), update(said)];
  }

  /** A text that did not come in pieces, in pieces. */
  #unsaid({ type, index, content }: { type: string; index: number; content: unknown }): PiMessage[] {
    if (this.#inPieces.has(index) || typeof content !== 'string' || content === '') return [];
    this.#inPieces.add(index);
    const pieces = piecesOf(content);
    return pieces.map((delta) => {
      return { type: 'message_update', assistantMessageEvent: { type, contentIndex: index, delta } };
    });
  }

  #messageEnd(message: Fields): PiMessage[] {
    const end = (fields: Fields): PiMessage => ({ type: 'message_end', message: fields });
    switch (message['role']) {
      case 'assistant': {
        const blocks = Array.isArray(message['content']) ? message['content'].map(fieldsOf) : [];
        const unsaid = blocks.flatMap(({ type, text, thinking }, index) => {
          if (type === 'text') return this.#unsaid({ type: 'text_delta', index, content: text });
          return type === 'thinking' ? this.#unsaid({ type: 'thinking_delta', index, content: thinking }) : [];
        });
        const { content: _, ...rest } = message;
        return [...unsaid, end(rest)];
      }
      case 'system':
        return [end({ role: 'system' })];
      case 'toolResult':
        return [end(only(message, ['role', 'toolCallId', 'toolName', 'isError']))];
      default:
        return [end(withoutData(message))];
    }
  }

  #toolUpdate(message: PiMessage): PiMessage[] {
    const { args: _, partialResult, ...rest } = message;
    const toolCallId = String(message['toolCallId']);
    const printed = this.#printed.get(toolCallId) ?? '';
    const now = textOf(ToolResult.safeParse(partialResult).data?.content ?? []);
    if (now === '') return [{ ...rest, output: '' }];
    this.#printed.set(toolCallId, now);
    const isShell = SHELL_TOOLS.has(String(message['toolName']));
    const output = isShell || now.startsWith(printed) ? appendedOutput(printed, now) : now;
    return piecesOf(output).map((piece) => ({ ...rest, output: piece }));
  }
}

/** A model's configuration may hold keys; a command's, where it lies on this machine. */
function response(message: PiMessage): PiMessage {
  const data = fieldsOf(message['data']);
  if (message['command'] === 'get_state') {
    return { ...message, data: { ...data, model: only(fieldsOf(data['model']), MODEL_FIELDS) } };
  }
  if (message['command'] !== 'get_commands' || !Array.isArray(data['commands'])) return message;
  const commands = data['commands'].map((each) => only(fieldsOf(each), ['name', 'description', 'source']));
  return { ...message, data: { commands } };
}

/** Pictures are long and nobody reads them in a lane; `structuredContent` says a result again. */
function withoutData(fields: Fields): Fields {
  const { content } = fields;
  const kept = without(fields, 'structuredContent');
  if (!Array.isArray(content)) return kept;
  return { ...kept, content: content.map((block: unknown) => without(fieldsOf(block), 'data')) };
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function only(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
