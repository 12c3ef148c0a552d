import { z } from 'zod';
import { JsonObject, parseJsonObject } from './json-object.ts';
import type { SessionEntry, SessionHeader, UnknownEntry } from './session-entry.ts';
import { isShallow, messageOfWire, WireMessage, wireOfMessage } from './session-message.ts';

/** The version of the session files that are written; those of version 1, whose entries have no ids, are read as well. */
export const SESSION_VERSION = 2;

/** A line of a session file, at most. */
export const SESSION_LINE_LIMIT_BYTES = 8 * 1024 * 1024;

/** The content type of a session file. */
export const SESSION_CONTENT_TYPE = 'application/x-ndjson';

const id = z.string().min(1).max(256);
const base = { id: id.nullish(), 'parent-id': id.nullish(), timestamp: z.string().max(64).optional() };
const count = z.number().nonnegative().nullish();
const text = z.string().nullish();

const WireHeader = z.object({
  type: z.literal('session'),
  version: z
    .int()
    .min(1)
    .max(SESSION_VERSION, `is newer than ${String(SESSION_VERSION)}, the newest that is known`)
    .default(1),
  id,
  timestamp: z.string().max(64),
  cwd: z.string().max(4096).default(''),
});

const WireEntry = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), ...base, message: WireMessage }),
  z.object({
    type: z.literal('compaction'),
    ...base,
    summary: z.string().min(1),
    'first-kept-entry-id': id,
    'tokens-before': count,
    'tokens-after': count,
    guidance: text,
    trigger: text,
  }),
  z.object({
    type: z.literal('extension-state'),
    ...base,
    extension: z.string().min(1).max(256),
    version: z.int().min(1),
    state: z.preprocess(
      (value) => (Array.isArray(value) && value.length === 0 ? {} : value),
      JsonObject.refine(isShallow, 'is nested too deep'),
    ),
  }),
]);

export type SessionLine = SessionHeader | SessionEntry | UnknownEntry;

/** A line as it was understood, or what is wrong with it; the words never quote the line. */
export type ReadLine =
  | { readonly ok: true; readonly line: SessionLine }
  | { readonly ok: false; readonly problem: string };

/** Reads one line of a session file (version 2, or 1). Pure and total. */
export function readSessionLine(line: string): ReadLine {
  const raw = parseJsonObject(line);
  if (raw === null) return { ok: false, problem: 'is not a JSON object' };
  const type = raw['type'];
  if (typeof type !== 'string') return { ok: false, problem: 'has no type' };
  if (type === 'session') {
    const header = WireHeader.safeParse(raw);
    return header.success ? { ok: true, line: headerOf(header.data) } : wrong(header.error);
  }
  if (!KNOWN.has(type)) return { ok: true, line: { type: 'unknown', text: line } };
  const entry = WireEntry.safeParse(raw);
  return entry.success ? { ok: true, line: entryOf(entry.data) } : wrong(entry.error);
}

const KNOWN: ReadonlySet<string> = new Set(WireEntry.options.map((option) => option.shape.type.value));

/** A header or an entry as the text of its line, with its end. */
export function writeSessionLine(line: SessionLine): string {
  return `${line.type === 'unknown' ? line.text : JSON.stringify(wireOf(line))}\n`;
}

function wireOf(line: SessionHeader | SessionEntry): Readonly<Record<string, unknown>> {
  if (line.type === 'session') return { ...line, version: SESSION_VERSION };
  const { type, timestamp } = line;
  const entry = { type, id: line.id, 'parent-id': line.parentId ?? undefined, timestamp };
  switch (line.type) {
    case 'message':
      return { ...entry, message: wireOfMessage(line.message) };
    case 'compaction': {
      const { summary, firstKeptEntryId, tokensBefore, tokensAfter, guidance, trigger } = line;
      const tokens = { 'tokens-before': tokensBefore, 'tokens-after': tokensAfter };
      return { ...entry, summary, 'first-kept-entry-id': firstKeptEntryId, ...tokens, guidance, trigger };
    }
    case 'extension-state': {
      const { extension, version, state } = line;
      return { ...entry, extension, version, state };
    }
  }
}

function headerOf({ version, ...header }: z.infer<typeof WireHeader>): SessionHeader {
  return { ...header, version: version === 1 ? 1 : 2 };
}

function entryOf(wire: z.infer<typeof WireEntry>): SessionEntry {
  const common = { id: wire.id ?? null, parentId: wire['parent-id'] ?? null, timestamp: wire.timestamp ?? '' };
  switch (wire.type) {
    case 'message':
      return { type: 'message', ...common, message: messageOfWire(wire.message) };
    case 'compaction': {
      const { summary, guidance, trigger } = wire;
      return {
        type: 'compaction',
        ...common,
        summary,
        firstKeptEntryId: wire['first-kept-entry-id'],
        ...(wire['tokens-before'] == null ? {} : { tokensBefore: wire['tokens-before'] }),
        ...(wire['tokens-after'] == null ? {} : { tokensAfter: wire['tokens-after'] }),
        ...(guidance == null ? {} : { guidance }),
        ...(trigger == null ? {} : { trigger }),
      };
    }
    case 'extension-state': {
      const { extension, version, state } = wire;
      return { type: 'extension-state', ...common, extension, version, state };
    }
  }
}

function wrong(error: z.ZodError): ReadLine {
  const issue = error.issues[0];
  const field = (issue?.path ?? []).map(String).join('.');
  return { ok: false, problem: `${field === '' ? 'it' : field}: ${issue?.message ?? 'invalid'}`.slice(0, 300) };
}
