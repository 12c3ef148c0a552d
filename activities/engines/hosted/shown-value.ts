import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';

const TextBlock = z.object({ type: z.string(), text: z.string() });
/** A value and what kind of value it is, as agent libraries give a tool's output to a model. */
const TypedOutput = z.object({ type: z.string(), value: z.unknown() });
const Blocks = z.object({ content: z.array(z.unknown()) });

/** What a tool gave, as a reader is shown it; empty for what is nothing. */
export function shownValue(value: unknown): string {
  return previewText(textOf(value), PREVIEW_LIMIT_CHARS);
}

/** The text of any value of an agent: itself, the texts in its blocks, else its JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  const typed = TypedOutput.safeParse(value).data;
  if (typed !== undefined && typed.value !== undefined) return textOf(typed.value);
  return blocksText(value) ?? blocksText(Blocks.safeParse(value).data?.content) ?? JSON.stringify(value) ?? '';
}

/** The texts of a list of content blocks; null for what is no list of them. */
export function blocksText(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const texts = value.flatMap((block: unknown) => TextBlock.safeParse(block).data?.text ?? []);
  return texts.length === 0 ? null : texts.join('\n');
}

/** What a thrown value says of itself. */
export function thrownText(error: unknown): string {
  const message = z.object({ message: z.string() }).safeParse(error).data?.message;
  return message ?? textOf(error);
}
