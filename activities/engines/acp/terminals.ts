import { z } from 'zod';
import { TABLE_LIMITS } from './acp-state.ts';
import type { ToolUpdate } from './acp-schema.ts';
import { entryOf, withEntry, withoutEntry } from '../bounded-table.ts';
import type { Scribe, Speaker } from './scribe.ts';

const TAIL_CHARS = 256;
const text = z.string();
const ShellResponse = z.looseObject({ stdout: text, stderr: text.nullish().catch(null) });
const TerminalOutput = z.looseObject({ output: text });

/** What a tool's frame carries of a terminal outside of ACP's own fields: Codex by the piece, Claude at the end. */
export function sayTerminalOutput(scribe: Scribe, speaker: Speaker, { toolCallId, _meta }: ToolUpdate): void {
  const piece = _meta?.terminal_output_delta;
  if (piece != null && piece.data !== '') {
    scribe.say(speaker, { kind: 'terminal.output', terminalId: piece.terminal_id ?? toolCallId, chunk: piece.data });
  }
  const shell = ShellResponse.safeParse(_meta?.claudeCode?.toolResponse).data;
  if (shell === undefined) return;
  const chunk = [shell.stdout, shell.stderr ?? ''].filter((part) => part !== '').join('\n');
  if (chunk !== '') scribe.say(speaker, { kind: 'terminal.output', terminalId: toolCallId, chunk });
}

/** What the agent has read of a terminal of ours: each answer holds all of the output (or its end), so what is new is said. */
export function sayPolledOutput(scribe: Scribe, terminalId: string, result: unknown): string {
  const output = TerminalOutput.safeParse(result).data?.output ?? '';
  const chunk = newOutput(output, entryOf(scribe.state.terminals, terminalId));
  if (chunk === '') return 'no new output of a terminal';
  scribe.say(scribe.self, { kind: 'terminal.output', terminalId, chunk });
  const said = { chars: output.length, tail: output.slice(-TAIL_CHARS) };
  const terminals = withEntry(scribe.state.terminals, terminalId, said, TABLE_LIMITS.terminals);
  scribe.remember({ terminals });
  return '';
}

/** An output over its limit loses its beginning: then what is new is found behind the end of what was said. */
function newOutput(output: string, said: { readonly chars: number; readonly tail: string } | undefined): string {
  if (said === undefined) return output;
  if (output.slice(0, said.chars).endsWith(said.tail)) return output.slice(said.chars);
  const found = output.lastIndexOf(said.tail);
  return found === -1 ? output : output.slice(found + said.tail.length);
}

export function forgetTerminal(scribe: Scribe, terminalId: string): void {
  scribe.remember({ terminals: withoutEntry(scribe.state.terminals, terminalId) });
}
