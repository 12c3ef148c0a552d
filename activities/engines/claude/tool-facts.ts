import { z } from 'zod';
import { previewText } from '../../../contract/frames.ts';

const TITLE_CHARS = 300;

/** The fields of a tool's input that say in one line what it is to do; the first that is there. */
const TITLES = ['command', 'file_path', 'notebook_path', 'pattern', 'query', 'url', 'subject', 'description'] as const;
const MCP_TOOL = /^mcp__(.+?)__(.+)$/;

const Content = z.array(z.object({ type: z.string().catch(''), text: z.string().catch('') }));
const FAULT = /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/;

/** A tool's own name, and the MCP server that it is of. */
export function toolNameOf(name: string): { readonly name: string; readonly server?: string } {
  const [, server, tool] = MCP_TOOL.exec(name) ?? [];
  if (server !== undefined && tool !== undefined) return { name: tool, server };
  return { name: name === '' ? 'tool' : name };
}

/** What a call is to do, in one line; empty where its input does not say. */
export function titleOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Readonly<Record<string, unknown>>;
  const title = TITLES.map((name) => (Object.hasOwn(fields, name) ? fields[name] : undefined)).find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof title === 'string' ? previewText(title, TITLE_CHARS) : '';
}

/** What a tool gave, as one text. */
export function outputOf(content: unknown): string {
  if (typeof content === 'string') return FAULT.exec(content)?.[1] ?? content;
  const parts = Content.safeParse(content).data ?? [];
  return parts.map(({ type, text }) => (type === 'text' ? text : `[${type}]`)).join('\n');
}
