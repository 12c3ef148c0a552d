import { z } from 'zod';
import { toolNameOf } from './tool-name.ts';

/** What is read of a tool call, an update of one, or the one that a permission is asked for. */
export const ToolCallPatch = z.object({
  toolCallId: z.string(),
  title: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
  kind: z.string().nullish().catch(null),
  status: z.string().nullish().catch(null),
  content: z.array(z.unknown()).nullish().catch(null),
  locations: z
    .array(z.object({ path: z.string().min(1) }))
    .nullish()
    .catch(null),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: z.record(z.string(), z.unknown()).nullish().catch(null),
});
export type ToolCallPatch = z.infer<typeof ToolCallPatch>;

const ToolUpdate = z.object({
  update: z.intersection(z.object({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']) }), ToolCallPatch),
});

/** Of the parameters of a `session/update`, the patch of a tool call; null when it is about something else. */
export function toolPatchOf(params: unknown): ToolCallPatch | null {
  return ToolUpdate.safeParse(params).data?.update ?? null;
}

/** A call that is known by a name, from its first sight on. */
export type NamedCall = ToolCallPatch & { readonly name: string };

const REMEMBERED = 200;
const CLOSED: ReadonlySet<string> = new Set(['completed', 'failed']);

/** The tool calls of a session as their patches have made them, of the last ones: which are open, and what each is. */
export class OpenTools {
  readonly #calls = new Map<string, NamedCall>();
  readonly #open = new Set<string>();

  /** Takes a patch; gives the call as it is now, with its name. Fields that a patch leaves out stay. */
  take(patch: ToolCallPatch): NamedCall {
    const { toolCallId } = patch;
    const known = this.#calls.get(toolCallId);
    const name = known?.name ?? toolNameOf(patch);
    const merged: NamedCall = { ...patch, ...known, ...said(patch), name };
    const isClosed = CLOSED.has(merged.status ?? 'pending');
    if (isClosed) this.#open.delete(toolCallId);
    else this.#open.add(toolCallId);
    this.#calls.delete(toolCallId);
    this.#calls.set(toolCallId, isClosed ? named(merged) : merged);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > REMEMBERED && oldest !== undefined) {
      this.#calls.delete(oldest);
      this.#open.delete(oldest);
    }
    return merged;
  }

  /** Nothing more is expected of a call: some agents do not say that one was refused. */
  close(toolCallId: string): void {
    this.#open.delete(toolCallId);
  }

  get isOneOpen(): boolean {
    return this.#open.size > 0;
  }
}

/** Of a call that is over, what a late patch may lean on; what it was given and gave can be large. */
function named({ toolCallId, title, name, kind, status, _meta }: NamedCall): NamedCall {
  const over = { content: null, locations: null };
  return { toolCallId, title, name, kind, status, _meta, ...over, rawInput: undefined, rawOutput: undefined };
}

/** Claude starts a call with an empty input and patches it; what is there is never replaced by nothing. */
function said(patch: ToolCallPatch): Partial<ToolCallPatch> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined && value !== null));
}
