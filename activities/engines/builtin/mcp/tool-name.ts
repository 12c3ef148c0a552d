import { hash } from 'node:crypto';

/** What the model APIs take as a tool's name. */
const LIMIT_CHARS = 64;
const HASH_CHARS = 8;
const MARK = 'mcp__';

/**
 * The name by which a model calls a server's tool: `mcp__<server>__<tool>`.
 *
 * **Contract:** at most 64 characters of `[a-zA-Z0-9_-]`. It depends on the server's name, the tool's, and on what is taken alone:
 * a name that cannot stand as it is, or is taken, ends in a digest of the tool's own.
 */
export function mcpToolName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = prefixOf(server) + tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  if (plain.length <= LIMIT_CHARS && isPlainName(tool) && !taken.has(plain)) return plain;
  for (let tries = 0; ; tries++) {
    const digest = hash('sha256', tries === 0 ? tool : `${tool}\n${String(tries)}`).slice(0, HASH_CHARS);
    const name = `${plain.slice(0, LIMIT_CHARS - HASH_CHARS - 1)}_${digest}`;
    if (!taken.has(name)) return name;
  }
}

/** A name that stands in the model's as it is, if there is room. */
export function isPlainName(tool: string): boolean {
  return /^[a-zA-Z0-9_-]+$/.test(tool);
}

/** The server whose tool a name would be; null for any other tool's. */
export function serverOfToolName(name: string): string | null {
  return /^mcp__([a-z0-9-]+)__/.exec(name)?.[1] ?? null;
}

/** How the names of all tools of a server begin. */
function prefixOf(server: string): string {
  return `${MARK}${server}__`;
}
