import { describe, expect, it } from 'vitest';
import type { Message } from '../../contract/agent-messages.ts';
import type { InterruptRow } from '../../infra/postgres/interrupt.ts';
import { continuingPrompt, openingPrompt } from './turn-prompt.ts';

const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  stopReason: 'stop',
  timestamp: 1,
});

describe('what an engine is given', () => {
  it('is the input alone where its session holds the conversation', () => {
    expect(openingPrompt('and now?', [])).toBe('and now?');
  });

  it('is the conversation before the input where it does not, the newest part of a long one', () => {
    const prompt = openingPrompt('and now?', [user('what is 2 + 2?'), assistant('4')]);
    expect(prompt).toContain('User: what is 2 + 2?\n\nAssistant: 4\n</conversation>\n\nand now?');
    const long = openingPrompt('and now?', [user('old'), assistant('x'.repeat(50_000)), user('the newest')]);
    expect(long).toContain('User: the newest\n</conversation>');
    expect(long).not.toContain('User: old');
    expect(long.length).toBeLessThan(41_000);
  });

  it('tells one that was stopped what a person has decided, and nothing where nobody has', () => {
    const answer = {
      tool_name: 'shell',
      arguments: '{"command":"make"}',
      status: 'rejected',
      decision: '{"decision":"reject","message":"not on Fridays"}',
    } as InterruptRow;
    expect(continuingPrompt([answer])).toContain('- shell {"command":"make"}: rejected (not on Fridays)');
    expect(continuingPrompt([])).not.toContain('decided');
    expect(continuingPrompt([])).toContain('look before you repeat');
  });
});
