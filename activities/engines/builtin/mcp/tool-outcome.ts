import { z } from 'zod';
import type { TextContent } from '../../../../contract/agent-messages.ts';
import type { ToolOutcome } from '../tools/tool.ts';

/** Of a result's text, what the model is shown. */
const TEXT_LIMIT_CHARS = 100_000;
const NAME_CHARS = 200;

const text = z.string();
const optionalText = z.string().optional().catch(undefined);
const Media = { data: text, mimeType: text };
const Resource = z.object({ uri: text, mimeType: optionalText, text: optionalText, blob: optionalText });

const Block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image'), ...Media }),
  z.object({ type: z.literal('audio'), ...Media }),
  z.object({ type: z.literal('resource'), resource: Resource }),
  z.object({ type: z.literal('resource_link'), uri: text, name: optionalText, mimeType: optionalText }),
]);

/** The answer to `tools/call`: its blocks are looked at one by one. */
export const CallAnswer = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional().catch(undefined),
  isError: z.boolean().optional().catch(undefined),
});
export type CallAnswer = z.infer<typeof CallAnswer>;

interface Binary {
  readonly contentType: string;
  readonly content: Buffer;
}

/** A block as the model is shown it, and what it holds that is no text. */
interface Shown {
  readonly text: string;
  readonly binary?: Binary;
}

/**
 * A server's answer as a tool's result.
 *
 * **Contract:** total and bounded. Text stays text; of anything else the model is told the type, the size and, of the first, the
 * artifact that keeps it.
 */
export function outcomeOf(
  { content, structuredContent, isError = false }: CallAnswer,
  { artifactIdOf, artifactBytes }: { artifactIdOf: (content: Buffer) => string; artifactBytes: number },
): ToolOutcome {
  const shown = content.map(shownOf);
  const kept = shown.find(({ binary }) => binary !== undefined && binary.content.length <= artifactBytes)?.binary;
  const lines = shown.map(({ text: said, binary }) =>
    binary === undefined
      ? said
      : `[${said}${binary === kept ? `, kept as artifact ${artifactIdOf(binary.content)}` : ''}]`,
  );
  const hasText = shown.some(({ text: said, binary }) => binary === undefined && said !== '');
  const structured = structuredContent === undefined || hasText ? [] : [JSON.stringify(structuredContent)];
  const result = {
    content: withinLimit([...lines, ...structured].filter((line) => line !== '')),
    isError,
  };
  return kept === undefined ? result : { ...result, saved: { name: nameOf(kept), ...kept } };
}

function shownOf(raw: unknown): Shown {
  const block = Block.safeParse(raw);
  if (!block.success) return { text: '[content of a type that cannot be shown]' };
  switch (block.data.type) {
    case 'text':
      return { text: block.data.text };
    case 'image':
    case 'audio':
      return binaryOf(block.data.type, block.data.data, block.data.mimeType);
    case 'resource':
      return resourceOf(block.data.resource);
    case 'resource_link':
      return { text: `[link to a resource: ${short(block.data.uri)}${typeNote(block.data.mimeType)}]` };
  }
}

function resourceOf({ uri, mimeType, text: said, blob }: z.infer<typeof Resource>): Shown {
  if (said !== undefined) return { text: `[resource ${short(uri)}${typeNote(mimeType)}]\n${said}` };
  if (blob === undefined) return { text: `[resource ${short(uri)}: empty]` };
  return binaryOf(`resource ${short(uri)}`, blob, mimeType ?? 'application/octet-stream');
}

function binaryOf(what: string, base64: string, mimeType: string): Shown {
  const content = Buffer.from(base64, 'base64');
  const contentType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mimeType) ? mimeType : 'application/octet-stream';
  return { text: `${what}: ${contentType}, ${String(content.length)} bytes`, binary: { contentType, content } };
}

function nameOf({ contentType }: Binary): string {
  const [kind = 'file', subtype = 'bin'] = contentType.split('/');
  return `${kind}.${subtype.replace(/\+.*$/, '').replace('octet-stream', 'bin')}`;
}

function typeNote(mimeType: string | undefined): string {
  return mimeType === undefined ? '' : ` (${short(mimeType)})`;
}

function short(said: string): string {
  const line = said.replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return (line.length > NAME_CHARS ? `${line.slice(0, NAME_CHARS - 1)}…` : line).toWellFormed();
}

function withinLimit(lines: readonly string[]): TextContent[] {
  const whole = lines.join('\n').toWellFormed();
  if (whole.length <= TEXT_LIMIT_CHARS) return [{ type: 'text', text: whole }];
  const left = whole.length - TEXT_LIMIT_CHARS;
  const cut = whole.slice(0, TEXT_LIMIT_CHARS).toWellFormed();
  return [{ type: 'text', text: `${cut}\n[${String(left)} more characters are not shown; ask the tool for less]` }];
}
