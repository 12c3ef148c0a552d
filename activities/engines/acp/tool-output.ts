import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { ContentBlock, type ToolUpdate } from './acp-schema.ts';

/** The fields under which engines keep an output's text in `rawOutput`. */
const TEXT_FIELDS = ['output', 'error', 'formatted_output', 'aggregated_output', 'stdout'] as const;

/** What a tool's frame shows of its output; empty when it shows none. */
export function outputPreview({ content, rawOutput }: ToolUpdate): string {
  const text =
    typeof rawOutput === 'string' ? rawOutput : (blocksText(rawOutput) ?? contentText(content) ?? rawText(rawOutput));
  return previewText(text, PREVIEW_LIMIT_CHARS);
}

function contentText(content: ToolUpdate['content']): string | null {
  const texts = (content ?? []).flatMap((item) => item.content?.text ?? []);
  return texts.length === 0 ? null : texts.join('\n');
}

export function blocksText(blocks: unknown): string | null {
  if (!Array.isArray(blocks)) return null;
  const texts = blocks.flatMap((block: unknown) => ContentBlock.safeParse(block).data?.text ?? []);
  return texts.length === 0 ? null : texts.join('\n');
}

function rawText(rawOutput: unknown): string {
  if (typeof rawOutput !== 'object' || rawOutput === null) return '';
  const fields: Readonly<Record<string, unknown>> = { ...rawOutput };
  for (const name of TEXT_FIELDS) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return Object.keys(fields).length === 0 ? '' : JSON.stringify(fields);
}
