import { z } from 'zod';
import type { McpServerSettings } from '../../../../infra/mcp-settings.ts';
import { isPlainName, mcpToolName } from './tool-name.ts';

/** Of what a server offers, as much as is looked at and as a model can be told. */
export const CATALOGUE_LIMITS = {
  pages: 50,
  listed: 2_000,
  tools: 100,
  descriptionChars: 2_048,
  schemaChars: 32_768,
  chars: 524_288,
} as const;

/** A tool as its server lists it; what Tidemark has no use for is left out. */
const ServerTool = z.object({
  name: z.string().min(1).max(500),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z
    .object({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export interface ListedTool {
  /** What a model calls it. */
  readonly name: string;
  /** What its server calls it. */
  readonly toolName: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
}

export interface Catalogue {
  readonly tools: readonly ListedTool[];
  /** How many were wanted and are over a limit, or are none. */
  readonly leftOut: number;
}

export interface ListPage {
  readonly tools: readonly unknown[];
  readonly nextCursor?: string | undefined;
}

/** Reads a server's pages; what is over the limits of pages and tools is not asked for. */
export async function readPages(list: (cursor: string | undefined) => Promise<ListPage>): Promise<readonly unknown[]> {
  const listed: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < CATALOGUE_LIMITS.pages && listed.length < CATALOGUE_LIMITS.listed; pages++) {
    const page = await list(cursor);
    listed.push(...page.tools.slice(0, CATALOGUE_LIMITS.listed - listed.length));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return listed;
}

/**
 * What of a server's list is offered, in the server's order.
 *
 * **Contract:** names are unique, and do not depend on the order of the list. What is malformed or over a limit is left out and
 * counted; what the settings do not want is left out.
 */
export function catalogueOf(
  server: string,
  listed: readonly unknown[],
  { tools: { allow, deny } }: Pick<McpServerSettings, 'tools'>,
): Catalogue {
  const parsed = listed.map((each) => ServerTool.safeParse(each).data);
  const wanted = parsed.filter((tool) => tool !== undefined && isWanted(tool.name, allow, deny));
  const names = namesOf(
    server,
    wanted.flatMap((tool) => tool?.name ?? []),
  );
  const tools: ListedTool[] = [];
  let leftOut = parsed.length - parsed.filter((tool) => tool !== undefined).length;
  let chars = 0;
  const seen = new Set<string>();
  for (const tool of wanted) {
    const name = names.get(tool?.name ?? '');
    if (tool === undefined || name === undefined) continue;
    const { annotations, inputSchema } = tool;
    const schemaChars = JSON.stringify(inputSchema).length;
    const description = cut(tool.description ?? '', CATALOGUE_LIMITS.descriptionChars);
    const size = schemaChars + description.length;
    const isOver =
      tools.length >= CATALOGUE_LIMITS.tools ||
      schemaChars > CATALOGUE_LIMITS.schemaChars ||
      chars + size > CATALOGUE_LIMITS.chars;
    if (isOver || seen.has(tool.name)) {
      leftOut++;
      continue;
    }
    seen.add(tool.name);
    chars += size;
    tools.push({
      name,
      toolName: tool.name,
      title: cut(tool.title ?? annotations?.title ?? tool.name, 100),
      description,
      inputSchema,
      isReadOnly: annotations?.readOnlyHint === true,
      isIdempotent: annotations?.idempotentHint === true,
    });
  }
  return { tools, leftOut };
}

/** Names that can stand as they are come first, so that no other one takes theirs. */
function namesOf(server: string, toolNames: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...new Set(toolNames)].toSorted();
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const toolName of [...sorted.filter(isPlainName), ...sorted.filter((each) => !isPlainName(each))]) {
    const name = mcpToolName(server, toolName, taken);
    names.set(toolName, name);
    taken.add(name);
  }
  return names;
}

function isWanted(name: string, allow: readonly string[] | undefined, deny: readonly string[]): boolean {
  const fits = (pattern: string) => patternOf(pattern).test(name);
  return (allow === undefined || allow.some(fits)) && !deny.some(fits);
}

function patternOf(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

function cut(text: string, limitChars: number): string {
  const whole = text.toWellFormed();
  return whole.length <= limitChars ? whole : `${whole.slice(0, limitChars - 1).toWellFormed()}…`;
}
