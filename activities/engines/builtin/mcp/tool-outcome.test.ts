import { fc } from '../../../../contract/property-testkit.ts';
import { describe, expect, it } from 'vitest';
import { AgentToolResult, textOf } from '../../../../contract/agent-messages.ts';
import { CallAnswer, outcomeOf } from './tool-outcome.ts';

const keeping = { artifactIdOf: () => 'art_1', artifactBytes: 1_000 };
const outcome = (answer: unknown) => outcomeOf(CallAnswer.parse(answer), keeping);
const shown = (content: unknown[], more: object = {}) => textOf(outcome({ content, ...more }).content);

const data = Buffer.from('picture').toString('base64');

describe('a server’s answer', () => {
  it('of text is that text, and an error stays one', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(outcome({ content })).toEqual({ content: [{ type: 'text', text: 'one\ntwo' }], isError: false });
    expect(outcome({ content, isError: true }).isError).toBe(true);
  });

  it('with data alone is its JSON; beside a text the data says the same again', () => {
    expect(shown([], { structuredContent: { answer: 42 } })).toBe('{"answer":42}');
    expect(shown([{ type: 'text', text: '42' }], { structuredContent: { answer: 42 } })).toBe('42');
  });

  it.each([
    [
      { type: 'image', data, mimeType: 'image/png' },
      'image/png',
      'image.png',
      '[image: image/png, 7 bytes, kept as artifact art_1]',
    ],
    [
      { type: 'audio', data, mimeType: 'audio/wav' },
      'audio/wav',
      'audio.wav',
      '[audio: audio/wav, 7 bytes, kept as artifact art_1]',
    ],
    [
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: data } },
      'application/octet-stream',
      'application.bin',
      '[resource file:///a.bin: application/octet-stream, 7 bytes, kept as artifact art_1]',
    ],
    [
      { type: 'image', data, mimeType: 'text/html\r\nx: y' },
      'application/octet-stream',
      'application.bin',
      '[image: application/octet-stream, 7 bytes, kept as artifact art_1]',
    ],
  ])('that is no text (%j) is kept, and the model is told of it', (block, contentType, name, text) => {
    const result = outcome({ content: [block] });
    expect(textOf(result.content)).toBe(text);
    expect(result.saved).toEqual({ name, contentType, content: Buffer.from('picture') });
  });

  it('with more than one of them keeps the first that is not too large', () => {
    const large = { type: 'image', data: Buffer.alloc(2_000).toString('base64'), mimeType: 'image/png' };
    const small = { type: 'image', data, mimeType: 'image/png' };
    const result = outcome({ content: [large, small, small] });
    expect(result.saved?.content.length).toBe(7);
    expect(textOf(result.content).split('\n')).toEqual([
      '[image: image/png, 2000 bytes]',
      '[image: image/png, 7 bytes, kept as artifact art_1]',
      '[image: image/png, 7 bytes]',
    ]);
  });

  it('with resources shows their text and names their links', () => {
    const resource = { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A' };
    expect(shown([{ type: 'resource', resource }])).toBe('[resource file:///a.md (text/markdown)]\n# A');
    expect(shown([{ type: 'resource_link', uri: 'file:///b', name: 'b' }])).toBe('[link to a resource: file:///b]');
  });

  it('that is huge is cut, and says so', () => {
    const text = shown([{ type: 'text', text: '🌍'.repeat(100_000) }]);
    expect(text.length).toBeLessThan(101_000);
    expect(text).toMatch(/\[100000 more characters are not shown; ask the tool for less\]$/);
    expect(text.isWellFormed()).toBe(true);
  });

  it('of any form is a result', () => {
    const block = fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'video'),
        text: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(
        fc.record({ content: fc.array(block), isError: fc.jsonValue(), structuredContent: fc.jsonValue() }),
        (answer) => {
          const { saved: _, ...result } = outcome(answer);
          expect(AgentToolResult.safeParse(result).success).toBe(true);
        },
      ),
    );
  });
});
