import { z } from 'zod';
import { NamedArtifact } from '../named-artifact.ts';

/** What is read of the server's events and answers (1.18.33); everything else passes unread. */

const id = z.string().min(1);
const text = z.string().catch('');
const optionalText = z.string().nullish().catch(null);
const instant = z.number().nullish().catch(null);
const count = z.number().nonnegative().catch(0);
const fields = z.record(z.string(), z.unknown()).catch({});

/** An event of `GET /event`. */
export const ServerEvent = z.object({ id: optionalText, type: id, properties: fields });
export type ServerEvent = z.infer<typeof ServerEvent>;

/** Whose event it is: of what concerns no session, nobody's. */
export const Scope = z.object({ sessionID: z.string().min(1).nullish().catch(null) });

export const Session = z.object({
  id,
  parentID: optionalText,
  directory: optionalText,
  title: text,
  agent: optionalText,
  version: optionalText,
});
export const SessionMessage = z.object({ info: Session });

const ErrorDetails = z.object({ message: optionalText, statusCode: z.number().nullish().catch(null) });
export const NamedError = z.object({
  name: text,
  data: ErrorDetails.nullish().catch(null),
});
export type NamedError = z.infer<typeof NamedError>;
export const SessionError = z.object({ sessionID: optionalText, error: NamedError.nullish().catch(null) });

export const SessionStatus = z.object({
  sessionID: id,
  status: z.object({ type: z.string(), attempt: count, message: text }),
});

/** What became of a file from one moment to another, as a unified diff with a header of its own kind. */
const FileDiff = z.object({ file: text, patch: text, status: optionalText });
export type FileDiff = z.infer<typeof FileDiff>;

export const Message = z.object({
  id,
  sessionID: id,
  role: z.string(),
  agent: optionalText,
  mode: optionalText,
  modelID: optionalText,
  providerID: optionalText,
  finish: optionalText,
  error: NamedError.nullish().catch(null),
  time: z.object({ completed: instant }).catch({ completed: null }),
  /** Of what a person said, what the turn changed; of what the agent says, whether it sums up the conversation. */
  summary: z
    .union([z.boolean(), z.object({ diffs: z.array(FileDiff).catch([]) })])
    .nullish()
    .catch(null),
});
export type Message = z.infer<typeof Message>;
export const MessageUpdate = z.object({ info: Message });

const PatchedFile = z.object({
  filePath: id,
  type: text,
  patch: text,
  movePath: z.string().min(1).nullish().catch(null),
});
export type PatchedFile = z.infer<typeof PatchedFile>;

/** What a tool tells of itself beside its output: each tool has some of them. */
const ToolMetadata = z.object({
  /** Of a command: what it printed so far, the beginning left out where that is long. */
  output: z.string().nullish().catch(null),
  exit: z.number().nullish(),
  sessionId: optionalText,
  filepath: optionalText,
  exists: z.boolean().nullish().catch(null),
  filediff: FileDiff.nullish().catch(null),
  files: z.array(PatchedFile).nullish().catch(null),
  model: z.object({ providerID: text, modelID: text }).nullish().catch(null),
});

const NO_STATE = { status: '', input: {}, output: '', error: '', title: '', metadata: null, time: {} };
const ToolState = z.object({
  status: text,
  input: fields,
  output: text,
  error: text,
  title: text,
  metadata: ToolMetadata.nullish().catch(null),
  time: z
    .object({ start: instant, end: instant, compacted: instant })
    .catch({ start: null, end: null, compacted: null }),
});

export const Tokens = z.object({
  input: count,
  output: count,
  reasoning: count,
  cache: z.object({ read: count, write: count }).catch({ read: 0, write: 0 }),
});
export type Tokens = z.infer<typeof Tokens>;

/** A part of a message with the fields of all its types: each type has some of them. */
export const Part = z.object({
  id,
  sessionID: id,
  messageID: id,
  type: z.string(),
  text,
  time: z.object({ end: instant }).nullish().catch(null),
  callID: text,
  tool: text,
  state: ToolState.catch(ToolState.parse(NO_STATE)),
  tokens: Tokens.nullish().catch(null),
  cost: count,
  files: z.array(z.string().min(1)).catch([]),
  metadata: fields,
});
export type Part = z.infer<typeof Part>;
export const PartUpdate = z.object({ part: Part });
export const PartDelta = z.object({ sessionID: id, messageID: id, partID: id, field: z.string(), delta: z.string() });

/** What is asked before a tool acts. */
export const PermissionAsked = z.object({
  id,
  sessionID: id,
  permission: text,
  patterns: z.array(z.string()).catch([]),
  metadata: fields,
  always: z.array(z.string()).catch([]),
  tool: z.object({ messageID: text, callID: id }).nullish().catch(null),
});
export type PermissionAsked = z.infer<typeof PermissionAsked>;

export const TodoList = z.object({ todos: z.array(z.object({ content: text, status: text })) });
export const FileEdited = z.object({ file: id });
export const CommandList = z.array(z.object({ name: id, description: optionalText }));

/** What the driver took out of a frame because it is large. */
export const Kept = z.object({
  diffs: z
    .array(
      z.object({
        path: z.string().min(1),
        changeType: z.enum(['create', 'edit', 'delete']),
        diff: NamedArtifact.optional(),
      }),
    )
    .optional(),
  output: NamedArtifact.optional(),
});
export type Kept = z.infer<typeof Kept>;
