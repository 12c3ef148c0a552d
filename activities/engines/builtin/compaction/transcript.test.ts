import { fc } from '../../../../contract/property-testkit.ts';
import { expect, it } from 'vitest';
import type { Message } from '../../../../contract/agent-messages.ts';
import { transcriptOf } from './transcript.ts';

const user = (content: string): Message => ({ role: 'user', content, timestamp: 0 });
const conversation: Message[] = [
  user('look'),
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hidden' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', id: 'a', name: 'list_files', arguments: { path: '.' } },
    ],
    timestamp: 0,
  },
  {
    role: 'tool-result',
    toolCallId: 'a',
    toolName: 'list_files',
    content: [{ type: 'text', text: 'no such folder' }],
    isError: true,
    timestamp: 0,
  },
  { role: 'assistant', content: [{ type: 'text', text: 'half' }], stopReason: 'error', timestamp: 0 },
];

it('shows who said what, calls and their results, and neither reasoning nor answers that failed', () => {
  expect(transcriptOf(conversation, 10_000)).toBe(
    [
      '[user]\nlook',
      '[agent]\nI look.',
      '[agent calls list_files]\n{"path":"."}',
      '[error of list_files]\nno such folder',
    ].join('\n\n'),
  );
});

it('cuts long blocks before it leaves old ones out', () => {
  const text = transcriptOf([user('a'.repeat(5_000)), user('b'.repeat(20))], 2_000);
  expect(text).toMatch(/^\[user\]\na+\.\.\.\[\d+ chars\]\n\n\[user\]\nb{20}$/);
  const many = Array.from({ length: 100 }, (_, n) => user(`${String(n)} `.repeat(100)));
  expect(transcriptOf(many, 2_000)).toMatch(/^\[the beginning is left out\]\n\n\[user\]\n8\d /);
});

it('is never longer than its limit', () => {
  const texts = fc.array(fc.string({ maxLength: 600, unit: 'binary' }), { maxLength: 30 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 100, max: 5_000 }), (contents, limit) => {
      expect(transcriptOf(contents.map(user), limit).length).toBeLessThanOrEqual(limit);
    }),
  );
});
