import { createWriteStream } from 'node:fs';
import { z } from 'zod';

const LogLine = z.object({ level: z.enum(['warn', 'error', 'fatal']), msg: z.string().default('') });
const Failure = z.object({ err: z.object({ message: z.string() }) });

/**
 * Where the lines of a child process go: all of them to its log file; to the terminal only what a person should see, which
 * is a warning or worse, and what is no log line at all.
 */
export function childOutput(name: string, file: string, show: (line: string) => void): (line: string) => void {
  const log = createWriteStream(file, { flags: 'a', mode: 0o600 });
  log.on('error', (error) => show(`${name}: its log cannot be written: ${error.message}`));
  return (line) => {
    log.write(`${line}\n`);
    const shown = shownLine(line);
    if (shown !== null) show(`${name}: ${shown}`);
  };
}

function shownLine(line: string): string | null {
  const parsed = parseJson(line);
  if (parsed === undefined) return line.trim() === '' ? null : line;
  const entry = LogLine.safeParse(parsed);
  if (!entry.success) return null;
  const failure = Failure.safeParse(parsed);
  return `${entry.data.level}: ${entry.data.msg}${failure.success ? ` (${failure.data.err.message})` : ''}`;
}

function parseJson(line: string): unknown {
  try {
    return line.startsWith('{') ? JSON.parse(line) : undefined;
  } catch {
    return undefined;
  }
}
