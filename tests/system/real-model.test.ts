import { afterAll, beforeAll, expect, it } from 'vitest';
import { inheritedEnv } from '../../infra/config.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest, textOf } from '../fixtures/rest.ts';

/**
 * A real model behind an OpenAI-compatible server, such as llama.cpp's: `llama-server -m small.gguf --port 8080`, then
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
  'a real small model answers in a run, and remembers the turn before',
  async ({ skip }) => {
    if (stack === null) return skip('no model is served here: set TIDEMARK_TEST_MODEL_URL');
    const rest = new Rest(stack.url);
    const settings = { allowed_tools: [] };
    const first = await rest.startRun('My name is Ada. Answer in one short sentence.', { settings });
    expect(await rest.settled(first.run_id, TIMEOUT)).toMatchObject({ status: 'completed', error: null });
    expect(textOf(await rest.events(first)).trim()).not.toBe('');
    const second = await rest.startRun('What is my name? Answer with the name alone.', { settings }, first.thread_id);
    expect(await rest.settled(second.run_id, TIMEOUT)).toMatchObject({ status: 'completed' });
    expect(textOf(await rest.events(second))).toMatch(/ada/i);
  },
  TIMEOUT,
);
