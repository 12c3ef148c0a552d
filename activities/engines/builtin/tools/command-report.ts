import type { KeptBytes } from './output-buffer.ts';
import type { CommandEnd } from './run-command.ts';
import { failed, succeeded, type ToolLimits, type ToolOutcome } from './tool.ts';

/** What a command came to, for the model: how it ended, then what it printed, of a long output the beginning and the end. */
export function commandReport(end: CommandEnd, limits: ToolLimits): ToolOutcome {
  const { exit, output } = end;
  const printed = textOf(output);
  const shown = shortened(printed, limits.shellChars);
  const text = `${verdict(end, limits)}\n${shown === '' ? '(it printed nothing)' : shown}`;
  const details = { exitCode: exit.code, signal: exit.signal };
  const isOk = exit.code === 0 && !end.isLate && !exit.overMemory;
  const result = { ...(isOk ? succeeded(text) : failed(text)), details };
  return shown === printed ? result : { ...result, output: bytesOf(output) };
}

function verdict({ exit, isLate, timeoutMs }: CommandEnd, { shellMemoryMb }: ToolLimits): string {
  if (exit.overMemory) return `killed: it used more than ${String(shellMemoryMb)} MB of memory`;
  if (isLate) return `stopped: it was not over after ${String(timeoutMs / 1_000)} seconds`;
  return exit.code === null ? `killed by ${exit.signal ?? 'a signal'}` : `exit code ${String(exit.code)}`;
}

function textOf(output: KeptBytes): string {
  const decode = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return (
    decode(output.head) + (output.leftOutBytes === 0 ? '' : leftOut(output.leftOutBytes, 'bytes')) + decode(output.tail)
  );
}

/** The same for a person, with the bytes as they came. */
function bytesOf({ head, leftOutBytes, tail }: KeptBytes): Buffer {
  return leftOutBytes === 0 ? head : Buffer.concat([head, Buffer.from(leftOut(leftOutBytes, 'bytes')), tail]);
}

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return head + leftOut(text.length - 2 * half, 'characters') + tail;
}

function leftOut(count: number, unit: string): string {
  return `\n[${String(count)} ${unit} are left out here]\n`;
}
