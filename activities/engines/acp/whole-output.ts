import { z } from 'zod';
import type { ToolCallPatch } from './open-tools.ts';

/** Of a running command's output, what is remembered until it ends: the beginning. */
const REMEMBERED_CHARS = 1_048_576;
const REMEMBERED_CALLS = 100;

const TextBlock = z.object({ type: z.literal('text'), text: z.string() });
const TextContent = z.object({ type: z.literal('content'), content: TextBlock });
const TerminalDelta = z.object({ terminal_output_delta: z.object({ data: z.string() }) });
/** Where agents put a tool's output when it is an object. */
const OUTPUT_FIELDS = ['output', 'error', 'formatted_output', 'aggregated_output', 'stdout', 'content'] as const;

/** Puts together what a tool gave, from the updates of its call. */
export class WholeOutput {
  readonly #running = new Map<string, string>();

  /** Takes an update; gives the whole output when it is the one that ends the call, null before, or when there is none. */
  take({ toolCallId, status, content, rawOutput, _meta }: ToolCallPatch): string | null {
    const delta = TerminalDelta.safeParse(_meta);
    if (delta.success) this.#append(toolCallId, delta.data.terminal_output_delta.data);
    if (status !== 'completed' && status !== 'failed') return null;
    const streamed = this.#running.get(toolCallId) ?? null;
    this.#running.delete(toolCallId);
    return outputIn(rawOutput) ?? textsOf(content ?? [], contentText) ?? streamed;
  }

  #append(toolCallId: string, data: string): void {
    const text = this.#running.get(toolCallId) ?? '';
    this.#running.set(toolCallId, (text + data).slice(0, REMEMBERED_CHARS));
    const [oldest] = this.#running.keys();
    if (this.#running.size > REMEMBERED_CALLS && oldest !== undefined) this.#running.delete(oldest);
  }
}

function outputIn(rawOutput: unknown): string | null {
  if (typeof rawOutput === 'string') return rawOutput;
  if (Array.isArray(rawOutput)) return textsOf(rawOutput, (block) => TextBlock.safeParse(block).data?.text);
  if (typeof rawOutput !== 'object' || rawOutput === null) return null;
  const fields = rawOutput as Record<string, unknown>;
  const texts = OUTPUT_FIELDS.map((name) => fields[name]).filter((value) => typeof value === 'string');
  return texts[0] ?? null;
}

function contentText(item: unknown): string | undefined {
  return TextContent.safeParse(item).data?.content.text;
}

function textsOf(items: readonly unknown[], textOf: (item: unknown) => string | undefined): string | null {
  const texts = items.map(textOf).filter((text) => text !== undefined);
  return texts.length === 0 ? null : texts.join('\n');
}
