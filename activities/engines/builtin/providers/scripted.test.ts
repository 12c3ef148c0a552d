import { describe, expect, it } from 'vitest';
import { Message, textOf, type AgentContext, type AssistantMessage } from '../../../../contract/agent-messages.ts';
import { SCRIPTED_MODELS } from '../../../../contract/scripted-models.ts';
import { builtinTools } from '../tools/registry.ts';
import type { ProviderEvent } from './provider.ts';
import { loadScenarios } from './scenario.ts';
import { createScripted } from './scripted.ts';

const provider = createScripted({ pace: 0 });

const context = (messages: readonly Message[]): AgentContext => ({ messages, tools: [], maxTokens: 100 });
const options = (signal = new AbortController().signal) => ({
  signal,
  stallMs: 5_000,
  toolCallId: (n: number) => `tc_${String(n)}`,
});
const user = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const text = ({ content }: AssistantMessage) => textOf(content);

/** Plays a model to its end; `answer` says what each tool call comes back with. */
async function play(
  model: string,
  answer: (name: string) => { text: string; isError?: boolean },
): Promise<AssistantMessage[]> {
  const messages: Message[] = [user('paint the fence')];
  const said: AssistantMessage[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const message = await provider.complete(model, context(messages), options());
    said.push(message);
    messages.push(message);
    if (message.stopReason !== 'tool-use') break;
    for (const block of message.content) {
      if (block.type !== 'tool-call') continue;
      const { text: words, isError = false } = answer(block.name);
      const content = [{ type: 'text' as const, text: words }];
      messages.push({
        role: 'tool-result',
        toolCallId: block.id,
        toolName: block.name,
        content,
        isError,
        timestamp: 1,
      });
    }
  }
  return said;
}

const toolsOf = (messages: readonly AssistantMessage[]) =>
  messages.map((message) => message.content.flatMap((block) => (block.type === 'tool-call' ? [block.name] : [])));

describe('the demo model', () => {
  it('has exactly the scenarios that the contract names', () => {
    expect([...loadScenarios().keys()]).toEqual([...SCRIPTED_MODELS]);
  });

  it('says what it is and shows everything: reasoning, a tool, an approval, a question, the outcome', async () => {
    const said = await play('demo', (name) => ({ text: name === 'ask_user' ? 'streaming' : `${name} is done` }));
    expect(toolsOf(said)).toEqual([['list_files'], ['write_file'], ['ask_user'], []]);
    expect(said[0]?.content[0]).toMatchObject({ type: 'thinking' });
    expect(text(said[0]!)).toMatch(/scripted demo model.*OPENAI_API_KEY.*You said: paint the fence/s);
    expect(text(said[2]!)).toContain('write_file is done');
    expect(text(said[3]!)).toContain('You answered: streaming');
  });

  it('goes on from a rejection and a question left open, and says so', async () => {
    const said = await play('demo', (name) => ({ text: `no ${name} please`, isError: name !== 'list_files' }));
    expect(text(said[2]!)).toMatch(/No file was written.*no write_file please/s);
    expect(text(said[3]!)).toMatch(/stays open: no ask_user please/);
  });

  it.each([
    ['text', [[]]],
    ['slow', [[]]],
    ['tools', [['list_files', 'list_files'], []]],
    ['approval', [['write_file'], []]],
    ['question', [['ask_user'], []]],
  ])('%s calls the tools %j', async (model, tools) => {
    const said = await play(model, (name) => ({ text: `${name} answered` }));
    expect(toolsOf(said)).toEqual(tools);
    if (said.length > 1) expect(text(said[1]!)).toContain(`${tools[0]?.[0] ?? ''} answered`);
  });

  it('calls only tools that exist, with arguments that they take', () => {
    for (const [name, scenario] of loadScenarios()) {
      for (const turn of scenario.turns) {
        for (const call of [...(turn.toolCalls ?? []), ...(turn.onToolError?.toolCalls ?? [])]) {
          const tool = builtinTools().get(call.name);
          expect(tool, `${name} calls ${call.name}`).toBeDefined();
          expect(tool!.validate(call.arguments)).toMatchObject({ ok: true });
        }
      }
    }
  });

  it('says the same again when a step is repeated, and begins anew with each input', async () => {
    const first = await provider.complete('approval', context([user('a')]), options());
    const again = await provider.complete('approval', context([user('a')]), options());
    expect({ ...again, timestamp: 0 }).toEqual({ ...first, timestamp: 0 });
    const next = await provider.complete('approval', context([user('a'), first, user('b')]), options());
    expect(toolsOf([next])).toEqual([['write_file']]);
  });

  it('fills in only a bounded part of what it is told, once', async () => {
    const message = await provider.complete(
      'text',
      context([user('{{last_tool_result}}' + 'x'.repeat(10_000))]),
      options(),
    );
    expect(text(message)).toContain('{{last_tool_result}}xxx');
    expect(text(message).length).toBeLessThan(700);
  });

  it('streams its words, stops when it is told to, and stalls like any other', async () => {
    const slow = createScripted();
    const stop = new AbortController();
    const events: ProviderEvent[] = [];
    const message = await slow.complete('slow', context([user('a')]), options(stop.signal), (event) => {
      events.push(event);
      if (events.filter(({ type }) => type === 'text-delta').length === 3) stop.abort();
    });
    expect(message).toMatchObject({ stopReason: 'aborted' });
    expect(text(message)).toMatch(/^Sentence 1 of 60.*Sentence 3 of 60[^S]*$/);
    const stalled = await slow.complete('slow', context([user('a')]), { ...options(), stallMs: 10 });
    expect(stalled).toMatchObject({ stopReason: 'error', error: { code: 'provider_stalled' } });
  });

  it('makes messages that the contract takes, streamed or read whole', async () => {
    const body = provider.buildBody('demo', context([user('a')]));
    const whole = provider.parseResponse(body, 'demo', (n) => `tc_${String(n)}`);
    const streamed = await provider.complete('demo', context([user('a')]), options());
    expect({ ...whole, timestamp: 0 }).toEqual({ ...streamed, timestamp: 0 });
    expect(Message.parse(whole)).toEqual(whole);
  });
});
