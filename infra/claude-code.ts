import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = '@anthropic-ai/claude-agent-sdk';

/** Where Claude Code itself may lie in a folder of packages: its adapter's SDK brings it, one for each system. */
export function claudeCodePaths(modules: string): string[] {
  const system = `${SDK}-${process.platform}-${process.arch}`;
  return [system, `${system}-musl`].map((name) => join(modules, name, 'claude'));
}

/** Its version there; null when it is not there, or nobody says. */
export function claudeCodeVersion(modules: string): string | null {
  const file = join(modules, SDK, 'package.json');
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, 'utf8')) as { claudeCodeVersion?: string }).claudeCodeVersion ?? null;
}
