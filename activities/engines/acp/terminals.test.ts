import { describe, expect, it } from 'vitest';
import type { WireFrame } from '../wire/wire-frame.ts';
import { inTurn, said, update } from './acp-frames-testkit.ts';

const polled = (id: number, output: string, truncated = false): WireFrame[] => [
  { type: 'terminal/output', dir: 'recv', id, params: { sessionId: 'ses_1', terminalId: 'term_1' } },
  { type: 'terminal/output:result', dir: 'send', id, result: { output, truncated } },
];
const chunks = (...frames: WireFrame[]) =>
  said(inTurn(...frames)).flatMap((body) => (body.kind === 'terminal.output' ? [body.chunk] : []));

describe("a terminal's output", () => {
  it('is said as far as it is new, however often the agent reads it', () => {
    expect(chunks(...polled(1, 'x\n'), ...polled(2, 'x\n'), ...polled(3, 'x\nx\n'))).toEqual(['x\n', 'x\n']);
  });

  it('that lost its beginning goes on behind what was said', () => {
    const first = 'a'.repeat(300);
    expect(chunks(...polled(1, first), ...polled(2, `${first.slice(0, 280)}bc`, true))).toEqual([first, 'bc']);
  });

  it('comes by the piece from codex, also after its tool has ended', () => {
    const piece = (fields: object, data: string) =>
      update('tool_call_update', {
        toolCallId: 't1',
        ...fields,
        _meta: { terminal_output_delta: { data, terminal_id: 't1' } },
      });
    const call = update('tool_call', { toolCallId: 't1', name: 'exec_command', status: 'in_progress' });
    expect(chunks(call, piece({}, 'one'), piece({ status: 'completed' }, 'two'), piece({}, 'three'))).toEqual([
      'one',
      'two',
      'three',
    ]);
  });
});
