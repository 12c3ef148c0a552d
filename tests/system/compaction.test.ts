import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import {
  isForSummary,
  startBoundedModel,
  textOf,
  tokensOf,
  type BoundedModel,
  type Prompt,
} from '../fixtures/bounded-model.ts';
import { Rest, type Problem, type Run, type SaidEvent } from '../fixtures/rest.ts';

/** Its prompts are compacted over 4,000 tokens, and 1,000 are kept. */
const SMALL = 'openai/small';
/** Nothing is known of its context. */
const UNKNOWN = 'openai/unknown';
const MODELS = {
  [SMALL]: {
    contextTokens: 6_000,
    maxOutputTokens: 1_000,
    price: { inputPerMillion: 2, outputPerMillion: 10 },
  },
};

let model: BoundedModel;
let stack: Stack;
let rest: Rest;
/** What an extension heard of compaction. */
let heard: string;
const LISTENER = `
import { appendFileSync } from 'node:fs';
export default (api) => api.on('compaction-summary', (event) => appendFileSync(FILE, JSON.stringify(event) + '\\n'));
`;

beforeAll(async () => {
  model = await startBoundedModel();
  const file = join(inject('scratch'), 'compaction', 'tidemark.config.ts');
  await mkdir(dirname(file), { recursive: true });
  heard = join(dirname(file), 'heard.txt');
  await writeFile(join(dirname(file), 'listener.mjs'), LISTENER.replace('FILE', JSON.stringify(heard)));
  await writeFile(file, `export default { models: ${JSON.stringify(MODELS)}, extensions: ['./listener.mjs'] };\n`);
  const env = { OPENAI_API_KEY: 'sk-canary-key', OPENAI_BASE_URL: model.baseUrl, TIDEMARK_CONFIG: file };
  stack = await startStack({ env });
  rest = new Rest(stack.url);
});
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
});
beforeEach(() => {
  model.prompts.length = 0;
  model.replies.length = 0;
  model.limitTokens = Infinity;
  model.summary = 'They count things.';
  model.held = Promise.resolve();
});

/** About so many tokens, which name themselves. */
function words(name: string, tokens: number): string {
  return `${name} `.repeat(Math.ceil((tokens * 4) / (name.length + 1)));
}

interface Usage {
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
  readonly cost_usd: number | null;
}

async function say(input: string, more: Record<string, unknown> = {}, threadId?: string): Promise<Run & Usage> {
  const run = await rest.startRun(input, { model: SMALL, ...more }, threadId);
  return (await rest.settled(run.run_id)) as Run & Usage;
}

/** A thread of turns of 900 tokens each, the last of its runs. */
async function talk(names: readonly string[], more: Record<string, unknown> = {}): Promise<Run[]> {
  const runs: Run[] = [];
  for (const name of names) runs.push(await say(words(name, 900), more, runs[0]?.thread_id));
  return runs;
}

function markersOf(events: readonly SaidEvent[]): SaidEvent[] {
  return events.filter(({ kind, markerType }) => kind === 'context.marker' && markerType === 'memory');
}

function warningsOf(events: readonly SaidEvent[]): unknown[] {
  return events.flatMap(({ kind, code }) => (kind === 'harness.warning' ? [code] : []));
}

function answersOf(prompts: readonly Prompt[]): Prompt[] {
  return prompts.filter((prompt) => !isForSummary(prompt));
}

function summariesOf(prompts: readonly Prompt[]): Prompt[] {
  return prompts.filter(isForSummary);
}

describe('a conversation that would fill its context', () => {
  it('is compacted before the next call: a summary, and the newest turn word for word', async () => {
    const before = await talk(['alpha', 'beta', 'gamma', 'delta']);
    expect(summariesOf(model.prompts)).toEqual([]);
    const run = await say(words('epsilon', 900), {}, before[0]?.thread_id);
    expect(run.status).toBe('completed');

    const [request, prompt] = model.prompts.slice(-2) as [Prompt, Prompt];
    expect(isForSummary(request)).toBe(true);
    expect(request.tools).toBeUndefined();
    for (const name of ['alpha', 'beta', 'gamma', 'delta']) expect(textOf(request)).toContain(name);
    expect(textOf(request)).not.toContain('epsilon');
    expect(prompt.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
    expect(textOf(prompt)).toContain('They count things.');
    expect(textOf(prompt)).not.toContain('alpha');
    expect(prompt.messages.at(-1)?.content).toContain('epsilon');

    const [marker, ...others] = markersOf(await rest.events(run));
    expect(others).toEqual([]);
    expect(marker).toMatchObject({ detail: 'They count things.', sourceEventType: 'compaction-summary' });
    expect(marker?.['sourcePayload']).toMatchObject({ trigger: 'automatic', messagesSummarized: 8, messagesKept: 1 });
    const counts = (marker?.['sourcePayload'] ?? {}) as Record<string, unknown>;
    expect(counts['tokensBefore']).toBeGreaterThan(4_000);
    expect(counts['tokensAfter']).toBeLessThan(3_000);
    const said = { type: 'compaction-summary', summary: 'They count things.', messagesSummarized: 8 };
    expect(JSON.parse(await readFile(heard, 'utf8'))).toMatchObject(said);
  });

  it('counts the summary into what the run has used and cost', async () => {
    const before = await talk(['alpha', 'beta', 'gamma', 'delta']);
    expect(before[0]).toMatchObject({
      usage: { input_tokens: tokensOf(model.prompts[0] as Prompt), output_tokens: 2 },
    });
    const run = await say(words('epsilon', 900), {}, before[0]?.thread_id);
    const input = model.prompts.slice(-2).reduce((sum, prompt) => sum + tokensOf(prompt), 0);
    const output = Math.ceil('They count things.'.length / 4) + 2;
    expect(run.usage).toEqual({ input_tokens: input, output_tokens: output, cached_input_tokens: null });
    expect(run.cost_usd).toBeCloseTo((input * 2 + output * 10) / 1_000_000, 10);
    const said = (await rest.events(run)).findLast(({ kind }) => kind === 'usage.updated');
    expect(said).toMatchObject({ inputTokens: input, outputTokens: output, costUsd: run.cost_usd });
  });

  it('is compacted again from the summary before', async () => {
    const before = await talk(['alpha', 'beta', 'gamma', 'delta', 'epsilon']);
    model.summary = 'They still count.';
    const threadId = before[0]?.thread_id;
    for (const name of ['zeta', 'eta', 'theta', 'iota']) await say(words(name, 900), {}, threadId);
    const [, second, ...others] = summariesOf(model.prompts);
    expect(others).toEqual([]);
    expect(textOf(second as Prompt)).toContain('They count things.');
    expect(textOf(second as Prompt)).not.toContain('alpha');
    const last = textOf(model.prompts.at(-1) as Prompt);
    expect(last).toContain('They still count.');
    expect(last).not.toContain('They count things.');
  });

  it('is whole in a fork from before the compaction', async () => {
    const before = await talk(['alpha', 'beta', 'gamma', 'delta', 'epsilon']);
    expect(summariesOf(model.prompts)).toHaveLength(1);
    await say('fork', { parent_run_id: before[2]?.run_id }, before[0]?.thread_id);
    const fork = textOf(model.prompts.at(-1) as Prompt);
    expect(fork).not.toContain('They count things.');
    for (const name of ['alpha', 'beta', 'gamma']) expect(fork).toContain(name);
    expect(fork).not.toContain('delta');
  });

  it('is cut inside a turn that is too long by itself, between an answer with its results and the next', async () => {
    model.replies.push(
      ...Array.from({ length: 6 }, (_, n) => ({
        content: words(`look${String(n)}`, 900),
        tool: 'list_files',
        args: { path: '.' },
      })),
    );
    const run = await say('look six times');
    expect(run.status).toBe('completed');
    expect(summariesOf(model.prompts).length).toBeGreaterThan(0);
    expect(textOf(summariesOf(model.prompts)[0] as Prompt)).toContain('look six times');
    for (const prompt of answersOf(model.prompts)) {
      expect(tokensOf(prompt)).toBeLessThan(6_000);
      expectAnswered(prompt);
    }
  });

  it('stays as it is when the summary is empty, and the call goes on while it fits', async () => {
    const before = await talk(['alpha', 'beta', 'gamma', 'delta']);
    model.summary = '  ';
    const run = await say(words('epsilon', 900), {}, before[0]?.thread_id);
    expect(run.status).toBe('completed');
    const events = await rest.events(run);
    expect(markersOf(events)).toEqual([]);
    expect(warningsOf(events)).toEqual(['compaction_skipped']);
    expect(textOf(model.prompts.at(-1) as Prompt)).toContain('alpha');
  });

  it('stays as it is when the run is cancelled before its summary is there', async () => {
    const [first] = await talk(['alpha', 'beta', 'gamma', 'delta']);
    const held = Promise.withResolvers<void>();
    model.held = held.promise;
    const run = await rest.startRun(words('epsilon', 900), { model: SMALL }, first?.thread_id);
    await rest.until('a summary is asked for', async () => (summariesOf(model.prompts).length > 0 ? true : null));
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    expect(await rest.settled(run.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
    held.resolve();
    expect(markersOf(await rest.events(run))).toEqual([]);
    await say('go on', { settings: { context_tokens: 100_000 } }, first?.thread_id);
    expect(textOf(model.prompts.at(-1) as Prompt)).toContain('alpha');
  });

  it('fails the run where it cannot fit, and says why', async () => {
    const run = await say(words('alpha', 7_000));
    expect(run).toMatchObject({ status: 'failed', error: { code: 'context_length_exceeded' } });
    expect(run.error?.message).toMatch(/too long to go on: about \d+ tokens, and the model's context has 6000/);
    expect(model.prompts).toEqual([]);
  });

  it('is measured by the run’s own context_tokens', async () => {
    const settings = { context_tokens: 3_000 };
    await talk(['alpha', 'beta', 'gamma'], { model: UNKNOWN, settings });
    expect(summariesOf(model.prompts).length).toBeGreaterThan(0);
  });
});

describe('a prompt that the provider finds too long', () => {
  it('is compacted once and sent again', async () => {
    const before = await talk(['alpha', 'beta', 'gamma'], { model: UNKNOWN });
    model.limitTokens = 3_300;
    const run = await say(words('delta', 900), { model: UNKNOWN }, before[0]?.thread_id);
    expect(run.status).toBe('completed');
    const [refused, request, prompt] = model.prompts.slice(-3) as [Prompt, Prompt, Prompt];
    expect(tokensOf(refused)).toBeGreaterThan(3_300);
    expect(isForSummary(request)).toBe(true);
    expect(textOf(prompt)).toContain('They count things.');
    expect(markersOf(await rest.events(run))).toHaveLength(1);
  });

  it('is summarised from less of it, when even the request for its summary is too long', async () => {
    const before = await say(words('alpha', 9_000), { model: UNKNOWN });
    for (const name of ['beta', 'gamma']) await say(words(name, 9_000), { model: UNKNOWN }, before.thread_id);
    model.limitTokens = 25_000;
    const run = await say(words('delta', 9_000), { model: UNKNOWN }, before.thread_id);
    expect(run.status).toBe('completed');
    expect(summariesOf(model.prompts).map((prompt) => tokensOf(prompt) > 25_000)).toEqual([true, false]);
    expect(markersOf(await rest.events(run))).toHaveLength(1);
  });

  it('fails the run when there is nothing to compact', async () => {
    model.limitTokens = 3_000;
    const run = await say(words('alpha', 4_000), { model: UNKNOWN });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'context_length_exceeded' } });
    expect(run.error?.message).toContain('maximum context length');
    expect(model.prompts).toHaveLength(1);
  });
});

describe('a run with settings.compact', () => {
  it('compacts with the guidance, says so, and leaves nothing else in the conversation', async () => {
    const [first] = await talk(['alpha', 'beta', 'gamma']);
    const settings = { compact: { guidance: 'keep every number' } };
    const run = await say('/compact keep every number', { settings }, first?.thread_id);
    expect(run).toMatchObject({ status: 'completed', stop_reason: 'stop' });
    const [request, ...others] = summariesOf(model.prompts);
    expect(others).toEqual([]);
    expect(textOf(request as Prompt)).toContain('The user wishes of the summary: keep every number');
    const events = await rest.events(run);
    expect(markersOf(events)).toHaveLength(1);
    expect(markersOf(events)[0]?.['sourcePayload']).toMatchObject({ trigger: 'manual', guidance: 'keep every number' });
    expect(events.some(({ kind }) => kind === 'message.delta')).toBe(false);

    await say('go on', {}, first?.thread_id);
    const prompt = model.prompts.at(-1) as Prompt;
    expect(textOf(prompt)).toContain('They count things.');
    expect(textOf(prompt)).toContain('gamma');
    expect(textOf(prompt)).not.toMatch(/alpha|beta|\/compact/);
  });

  it('is what the command compact starts', async () => {
    const [first] = await talk(['alpha', 'beta', 'gamma']);
    const path = `/v1/threads/${first?.thread_id ?? ''}/commands/compact`;
    const { body } = await rest.send<{ result: { runId: string } }>('POST', path, { args: 'keep every name' });
    const run = await rest.settled(body.result.runId);
    expect(run.status).toBe('completed');
    expect(markersOf(await rest.events(run))[0]?.['sourcePayload']).toMatchObject({ guidance: 'keep every name' });
  });

  it('completes with a warning when there is not enough context', async () => {
    const first = await say('hello');
    for (const threadId of [undefined, first.thread_id]) {
      const run = await say('/compact', { settings: { compact: {} } }, threadId);
      expect(run.status).toBe('completed');
      expect(warningsOf(await rest.events(run))).toEqual(['compaction_skipped']);
    }
    expect(summariesOf(model.prompts)).toEqual([]);
  });

  it('is refused for an engine that keeps its conversation itself', async () => {
    const body = { input: '/compact', engine: 'codex', settings: { compact: {} } };
    const { status, body: problem } = await rest.send<Problem>('POST', '/v1/runs', body);
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: 'invalid_request', field: 'settings.compact' });
  });
});

it('a run that was cancelled while it waited for a person leaves a conversation in which every call is answered', async () => {
  const args = { path: 'note.txt', content: 'x' };
  model.replies.push({ content: 'I write.', tool: 'write_file', args });
  const first = await rest.startRun('write it', { model: SMALL });
  await rest.interruptOf(first.run_id);
  await rest.send('POST', `/v1/runs/${first.run_id}/cancel`);
  expect(await rest.settled(first.run_id)).toMatchObject({ status: 'failed', stop_reason: 'cancelled' });
  await say('go on', {}, first.thread_id);
  const prompt = model.prompts.at(-1) as Prompt;
  expect(prompt.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
  expectAnswered(prompt);
});

/** Each call of an answer is followed at once by its one result. */
function expectAnswered({ messages }: Prompt): void {
  messages.forEach(({ role, tool_calls: calls = [] }, index) => {
    if (role !== 'assistant') return;
    const results = messages.slice(index + 1, index + 1 + calls.length);
    expect(results.map((result) => result.tool_call_id)).toEqual(calls.map(({ id }) => id));
  });
  const callIds = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  const resultIds = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
  expect(resultIds.toSorted()).toEqual(callIds.toSorted());
}
