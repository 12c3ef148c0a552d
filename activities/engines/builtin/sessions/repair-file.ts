import { open, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { examineSession, type NumberedLine, type SessionIssue } from '../../../../contract/session-doctor.ts';
import { SESSION_VERSION, writeSessionLine } from '../../../../contract/session-jsonl.ts';
import { repairedSession } from '../../../../contract/session-repair.ts';
import { repairedPath, timeOfPath } from './jsonl-folder.ts';
import { linesOfFile } from './jsonl-lines.ts';

/** What is wrong with a session's file. */
export async function examineFile(path: string): Promise<SessionIssue[]> {
  return examineSession(await allLines(path));
}

/**
 * Writes the session without its faults to `<name>.repaired.jsonl` beside it.
 *
 * **Contract:** the file itself is not touched, and the copy is there whole or not at all. A repaired file is no session of the list.
 */
export async function repairFile(path: string): Promise<{ path: string; issues: SessionIssue[] }> {
  const lines = await allLines(path);
  const fallback = {
    type: 'session',
    version: SESSION_VERSION,
    id: basename(path, '.jsonl'),
    timestamp: timeOfPath(path),
    cwd: '/',
  } as const;
  const target = repairedPath(path);
  const file = await open(`${target}.new`, 'w', 0o600);
  try {
    for (const line of repairedSession(lines, fallback)) await file.appendFile(writeSessionLine(line));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${target}.new`, target);
  return { path: target, issues: examineSession(lines) };
}

async function allLines(path: string): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = [];
  for await (const line of linesOfFile(path)) lines.push(line);
  return lines;
}
