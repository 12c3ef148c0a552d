import { textOf, type AssistantMessage, type ToolResultMessage } from './agent-messages.ts';
import { utf8Bytes } from './frames.ts';
import type { ReadLine } from './session-jsonl.ts';

/** What can be wrong with a session file. */
export type SessionIssueCode =
  | 'malformed_json'
  | 'orphaned_header'
  | 'assistant_error'
  | 'duplicate_tool_call'
  | 'orphan_tool_result'
  | 'missing_tool_result'
  | 'oversized_tool_result';

export interface SessionIssue {
  readonly code: SessionIssueCode;
  /** Counted from 1. */
  readonly line: number;
  readonly detail: string;
}

/** A line of a file that was read, with its place in it, counted from 1. */
export interface NumberedLine {
  readonly number: number;
  readonly read: ReadLine;
}

/** A tool's result, at most; a larger one crowds everything else out of what the model sees. */
export const TOOL_RESULT_LIMIT_BYTES = 100_000;

/**
 * What is wrong with a session file, in the order of its lines; that a call has no result is said where its turn ends.
 *
 * **Contract:** pure. No issue means that every line is understood, every tool call has one result, behind it and in its turn, and
 * no result is without its call.
 */
export function examineSession(lines: readonly NumberedLine[]): SessionIssue[] {
  const issues: SessionIssue[] = [];
  const called = new Set<string>();
  const open = new Map<string, number>();
  lines.forEach(({ number, read }, index) => {
    const say = (code: SessionIssueCode, detail: string): void => void issues.push({ code, line: number, detail });
    if (!read.ok) return say('malformed_json', read.problem);
    const { line } = read;
    if (line.type === 'session' && index > 0) say('orphaned_header', 'a header belongs into the first line');
    if (line.type === 'session' && lines.length === 1) say('orphaned_header', 'nothing follows the header');
    if (line.type !== 'message') return;
    if (line.message.role === 'user') sayUnanswered();
    if (line.message.role === 'assistant') examineAssistant(line.message, number, say);
    if (line.message.role === 'tool-result') examineResult(line.message, say);
  });
  sayUnanswered();
  return issues;

  /** A call is answered in its turn or never. */
  function sayUnanswered(): void {
    for (const [id, line] of open)
      issues.push({ code: 'missing_tool_result', line, detail: `the call ${id} has no result` });
    open.clear();
  }

  function examineAssistant({ stopReason, content }: AssistantMessage, number: number, say: Say): void {
    if (stopReason === 'error') say('assistant_error', 'the model’s answer ended with an error');
    for (const block of content) {
      if (block.type !== 'tool-call') continue;
      if (called.has(block.id)) say('duplicate_tool_call', `the id ${block.id} is an earlier call’s`);
      else open.set(block.id, number);
      called.add(block.id);
    }
  }

  function examineResult({ toolCallId, content }: ToolResultMessage, say: Say): void {
    if (!open.delete(toolCallId)) say('orphan_tool_result', `no call ${toolCallId} waits for a result`);
    const bytes = utf8Bytes(textOf(content));
    if (bytes > TOOL_RESULT_LIMIT_BYTES) say('oversized_tool_result', `the result has ${String(bytes)} bytes`);
  }
}

type Say = (code: SessionIssueCode, detail: string) => void;
