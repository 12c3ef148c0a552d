import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { AuthBackend } from '../auth/auth-backend.ts';
import { CALLS, COUNTED, SAID_USAGE, text, useProviderRig } from './testing/provider-rig.ts';
import { API_KEY, stream, types, type Answer } from './testing/wire-server.ts';
import type { WireScript } from './testing/wire-script.ts';

/** What every provider does when a call goes wrong, whatever its API: the same fault has the same code. */
export function testProviderFaults(script: WireScript): void {
  describe(`a fault of ${script.api}`, () => {
    const rig = useProviderRig(script);

    it('calls an answer that was filtered an error, and keeps what was said', async () => {
      const { message, events } = await rig.ask(rig.says({ said: [text('so far')], end: 'filtered' }));
      expect(message).toMatchObject({
        stopReason: 'error',
        content: [{ text: 'so far' }],
        errorMessage: "the provider's content filter stopped the answer",
        error: { code: 'provider_rejected', retryable: false },
      });
      expect(types(events)).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'error']);
    });

    it.each([
      ['overloaded', 'no luck', 'provider_unavailable', true],
      ['rate-limited', 'no luck', 'provider_rate_limited', true],
      ['too-long', 'prompt is too long: 3 tokens > 2 maximum', 'context_length_exceeded', false],
    ] as const)('reports a stream that ends in the fault %s (%s) as %s', async (kind, words, code, retryable) => {
      const { message, events } = await rig.ask(
        stream([...rig.cut(text('so far')), script.fault({ kind, message: words })]),
      );
      expect(message).toMatchObject({
        stopReason: 'error',
        content: [{ text: 'so far' }],
        errorMessage: `the provider reported an error: ${words}`,
        error: { code, retryable },
      });
      expect(events.at(-1)).toMatchObject({ type: 'error' });
    });

    it.each<[string, (parts: string[]) => Answer]>([
      ['is cut before its end', (parts) => stream(parts)],
      ['is empty', () => stream([])],
      ['holds malformed JSON', (parts) => stream([...parts, 'event: message_delta\ndata: {"type": \n\n'])],
      [
        'is reset',
        (parts) => async (response, request) => {
          await stream(parts, { cut: true })(response, request);
          await sleep(30);
          response.socket?.resetAndDestroy();
        },
      ],
    ])('reports a stream that %s as broken, and runs none of its calls', async (_title, answer) => {
      const { message } = await rig.ask(answer(rig.cut(text('so far'), CALLS)));
      expect(message).toMatchObject({
        stopReason: 'error',
        error: { code: 'provider_stream_broken', retryable: true },
      });
      expect(message.content.filter(({ type }) => type === 'tool-call')).toEqual([]);
    });

    it('reports a stream that falls silent, and closes it', async () => {
      const { message } = await rig.ask(stream(rig.cut(text('so far')), { cut: true }), { stallMs: 150 });
      expect(message).toMatchObject({ stopReason: 'error', error: { code: 'provider_stalled', retryable: true } });
      await expect.poll(() => rig.server.isClosed()).toBe(true);
    });

    it('stops at its caller’s word, with the text so far', async () => {
      const stop = AbortSignal.timeout(100);
      const { message } = await rig.ask(stream(rig.cut(text('so far')), { cut: true }), { signal: stop });
      expect(message).toMatchObject({ stopReason: 'aborted', content: [{ text: 'so far' }] });
      await expect.poll(() => rig.server.isClosed()).toBe(true);
    });

    it('does not wait for the connection to close when the answer has ended', async () => {
      const parts = script.stream({ said: [text('fine')], end: 'stop', usage: SAID_USAGE });
      const { message } = await rig.ask(stream(parts, { cut: true }), { stallMs: 60_000 });
      expect(message).toMatchObject({ stopReason: 'stop', usage: COUNTED });
    });

    it.each([
      [400, 'provider_rejected', false],
      [401, 'provider_auth', false],
      [403, 'provider_auth', false],
      [429, 'provider_rate_limited', true],
      [500, 'provider_unavailable', true],
      [529, 'provider_unavailable', true],
    ])('reports %i as %s, after one request', async (status, code, retryable) => {
      const { message, events, sent } = await rig.ask(rig.refuses(status, 'no luck', { 'retry-after': '7' }));
      const waits = retryable ? { retryAfterMs: 7_000 } : {};
      expect(message.error).toEqual({ code, retryable, ...waits });
      expect(message.errorMessage).toBe(`the provider answered ${String(status)}: no luck`);
      expect(types(events)).toEqual(['start', 'error']);
      expect(sent).toBe(1);
    });

    it('shows its key to nobody', async () => {
      const { message } = await rig.ask(rig.refuses(401, `bad key ${API_KEY}`));
      expect(JSON.stringify(message)).not.toContain(API_KEY);
    });

    it('never sends a request again once something was said, not even with another key', async () => {
      let given = 0;
      const auth: AuthBackend = {
        name: 'rotating',
        apiKey: async () => await Promise.resolve(`key-${String(given++)}`),
      };
      const fault = script.fault({ kind: 'logged-out', message: 'the session is over' });
      const { message, sent } = await rig.ask(stream([...rig.cut(text('so far')), fault]), { auth });
      expect(message).toMatchObject({
        stopReason: 'error',
        content: [{ text: 'so far' }],
        error: { code: 'provider_auth', retryable: false },
      });
      expect(sent).toBe(1);
    });

    it('asks for its key at each call, and tries another in place of one that was turned down', async () => {
      const keys = ['old', 'old', 'new'];
      const auth: AuthBackend = { name: 'rotating', apiKey: async () => await Promise.resolve(keys.shift() ?? null) };
      const answer: Answer = (response, request) =>
        script.keyIn(request.headers) === 'old' && keys.length < 2
          ? rig.refuses(401, 'expired')(response, request)
          : rig.says({ said: [text('in')], end: 'stop' })(response, request);
      expect((await rig.ask(answer, { auth })).sent).toBe(1);
      const rotated = await rig.ask(answer, { auth });
      expect(rotated).toMatchObject({ sent: 2, message: { stopReason: 'stop', content: [{ text: 'in' }] } });
      expect(types(rotated.events)[0]).toBe('start');
      const keyless = await rig.ask(answer, { auth });
      expect(keyless).toMatchObject({ sent: 0, message: { error: { code: 'provider_auth', retryable: false } } });
      expect(keyless.message.errorMessage).toContain('rotating');
    });
  });
}
