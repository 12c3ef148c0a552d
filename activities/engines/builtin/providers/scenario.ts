import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { ERROR_CODES } from '../../../../contract/errors.ts';

const ScriptedCall = z.strictObject({ name: z.string().min(1), arguments: z.record(z.string(), z.unknown()) });

const speech = {
  reasoning: z.string().optional(),
  /** A string is streamed word by word, a list item by item. */
  text: z.union([z.string(), z.array(z.string())]).optional(),
  toolCalls: z.array(ScriptedCall).optional(),
};

const Turn = z.strictObject({
  ...speech,
  /** What is said instead when the tool before it failed or was rejected. */
  onToolError: z.strictObject(speech).optional(),
  /** Silence before the first word. */
  delayMs: z.int().nonnegative().optional(),
  /** The turn ends with this failure after what it says. */
  error: z.strictObject({ code: z.enum(ERROR_CODES), message: z.string(), retryable: z.boolean() }).optional(),
});
export type Turn = z.infer<typeof Turn>;

/**
 * A scripted model: what it says at each turn, counted from the user's last message. In texts and arguments `{{input}}` is
 * that message and `{{last_tool_result}}` the newest tool result, both cut to a bound.
 */
export const Scenario = z
  .strictObject({
    description: z.string().min(1),
    /** Between two pieces of text. */
    chunkDelayMs: z.int().nonnegative().max(10_000),
    turns: z.array(Turn).min(1),
  })
  .refine(({ turns }) => endsTalking(turns.at(-1)), 'the last turn calls no tool, so that every run ends');
export type Scenario = z.infer<typeof Scenario>;

const FOLDER = new URL('scenarios/', import.meta.url);

/** Every scenario of the folder by name: `demo.json` is `demo`. A file that is not valid is a programmer's mistake. */
export function loadScenarios(): ReadonlyMap<string, Scenario> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return new Map(
    files.toSorted().map((file) => {
      const text = readFileSync(new URL(file, FOLDER), 'utf8');
      return [file.slice(0, -'.json'.length), Scenario.parse(JSON.parse(text))];
    }),
  );
}

function endsTalking(turn: Turn | undefined): boolean {
  return turn?.toolCalls === undefined && turn?.onToolError?.toolCalls === undefined;
}
