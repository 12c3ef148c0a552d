import { z } from 'zod';
import { ERROR_CODES } from './errors.ts';

/** What a client can ask of the extensions, which run in workers (design §8). */
export const EXTENSION_CALL_KINDS = [
  'command',
  'control',
  'introspect',
  'login',
  'logout',
  'panels',
  'status',
] as const;
export type ExtensionCallKind = (typeof EXTENSION_CALL_KINDS)[number];

/** So long a call may take, in milliseconds: a person waits for what is shown, and starts what is done. */
export const EXTENSION_CALL_LIMIT_MS: Readonly<Record<ExtensionCallKind, number>> = {
  command: 600_000,
  control: 60_000,
  introspect: 10_000,
  login: 600_000,
  logout: 60_000,
  panels: 10_000,
  status: 10_000,
};

/** An event of the bus that a call emitted: for the presenter that called. */
const Emitted = z.looseObject({ type: z.string() });

/** What a worker answered: the result as JSON, or the problem. */
export const ExtensionAnswer = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), result: z.unknown(), events: z.array(Emitted) }),
  z.strictObject({
    ok: z.literal(false),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    remedy: z.string(),
  }),
]);
export type ExtensionAnswer = z.infer<typeof ExtensionAnswer>;

/** What a worker has loaded, as it says itself. */
export const WorkerCatalog = z.strictObject({
  extensions: z.array(
    z.strictObject({
      name: z.string(),
      first_party: z.boolean(),
      error: z.string().nullable(),
      records: z.array(
        z.strictObject({ kind: z.string(), name: z.string().nullable(), description: z.string().nullable() }),
      ),
    }),
  ),
  /** Providers that extensions have registered: their models may be named as `provider/model`. */
  providers: z.array(z.string()),
});
export type WorkerCatalog = z.infer<typeof WorkerCatalog>;
