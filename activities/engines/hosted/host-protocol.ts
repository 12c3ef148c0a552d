import { z } from 'zod';
import { FormField } from '../../../contract/form.ts';
import { JsonObject } from '../../../contract/json-object.ts';
import type { EngineAnswer } from '../driver.ts';

/** What a driver tells a host: one JSON object a line, on the host's descriptor 5. */
export type HostCommand =
  | ({ readonly do: 'open' } & HostOpening)
  | { readonly do: 'prompt'; readonly text: string }
  /** One for each question that the host asked last. */
  | { readonly do: 'answer'; readonly answers: readonly EngineAnswer[] }
  | { readonly do: 'cancel' };

/** For whom an agent works. */
export interface HostOpening {
  /** The session to take up; null: a new one. */
  readonly known: string | null;
  readonly runId: string;
  readonly threadId: string;
  readonly workspace: string;
  /** What the run named, else the configuration; null: the agent's own choice. */
  readonly model: string | null;
  /** The folder in which the host keeps this thread's sessions; it need not be there. */
  readonly sessions: string;
  /** What its kind alone is configured with. */
  readonly options: Readonly<Record<string, string>>;
}

const question = { nativeId: z.string(), toolName: z.string(), prompt: z.string() };
const Question = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    toolCallId: z.string(),
    arguments: JsonObject,
    options: z.array(z.enum(['approve', 'edit', 'reject'])),
    schema: z.null(),
    ...question,
  }),
  z.object({ kind: z.literal('question'), toolCallId: z.string().nullable(), fields: z.array(FormField), ...question }),
]);
/** What an agent asks; `nativeId` need only be unique among those that are asked together. */
export type HostQuestion = z.infer<typeof Question>;

const End = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('completed'), stopReason: z.string() }),
  z.object({ outcome: z.literal('cancelled') }),
  z.object({ outcome: z.literal('failed'), message: z.string() }),
]);
export type HostEnd = z.infer<typeof End>;

/** What a host says: one JSON object a line, on its descriptor 4. */
export const HostSaying = z.discriminatedUnion('said', [
  z.object({
    said: z.literal('opened'),
    nativeSessionId: z.string().min(1),
    resumed: z.boolean(),
    /** Another process can take the session up. */
    resumable: z.boolean(),
    /** The module is a function, and was told the model. */
    choosesModel: z.boolean(),
  }),
  /** There is no agent: what is missing, for a person, and why, for the log. */
  z.object({ said: z.literal('refused'), what: z.string(), reason: z.string() }),
  z.object({
    said: z.literal('frame'),
    frame: z.looseObject({ type: z.string() }),
    /** A tool's output of which the frame has only the beginning, and its tool's name. */
    output: z.object({ toolName: z.string(), text: z.string() }).optional(),
  }),
  z.object({ said: z.literal('awaits'), who: z.enum(['model', 'tool']) }),
  z.object({ said: z.literal('asks'), questions: z.array(Question).min(1) }),
  z.object({ said: z.literal('ended'), end: End }),
]);
export type HostSaying = z.infer<typeof HostSaying>;
