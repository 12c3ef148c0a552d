import { CANONICAL_KINDS, type CanonicalKind } from '../../../contract/canonical.ts';
import { visible } from '../visible.ts';
import type { TidemarkClient } from '../../typescript/client.ts';
import type { ThreadItem } from '../../typescript/thread-item.ts';
import type { ThreadStart } from '../../typescript/thread-place.ts';
import type { InvocationOf } from '../invocation.ts';
import { writeWhole, type Streams } from '../streams.ts';
import { UsageError } from '../usage.ts';
import { LiveRuns } from '../live-runs.ts';

/** `follow`: a thread's events, a line each, until the thread is gone or the signal aborts. */
export async function follow(
  client: TidemarkClient,
  { args, values }: InvocationOf<'follow'>,
  { output, errors, signal }: Streams & { readonly signal: AbortSignal },
): Promise<void> {
  const live = new LiveRuns();
  let isCaughtUp = false;
  const { kinds, run: runId, 'until-idle': untilIdle = false } = values;
  if (untilIdle && (kinds ?? runId) !== undefined)
    throw new UsageError('--until-idle needs every event: no --kinds, no --run');
  const items = client.threads.follow(args[0] ?? '', {
    after: startOf(values.after),
    signal,
    ...(kinds === undefined ? {} : { kinds: kindsOf(kinds) }),
    ...(runId === undefined ? {} : { runId }),
    onReconnect: ({ error, inMs }) =>
      errors.write(`${error?.message ?? 'the gateway ended the stream'}; again in ${String(Math.round(inMs))} ms\n`),
  });
  for await (const item of items) {
    const line = values.json === true ? JSON.stringify(item) : visible(shown(item));
    await writeWhole(output, `${line}\n`);
    live.take(item);
    isCaughtUp ||= item.type === 'caught-up';
    if (untilIdle && isCaughtUp && live.isIdle) return;
  }
}

function startOf(after: string | undefined): ThreadStart {
  if (after === undefined) return 0;
  if (after === 'head' || after === 'oldest') return after;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new UsageError(`--after takes a number, head or oldest, and not ${JSON.stringify(after)}`);
}

function kindsOf(list: string): CanonicalKind[] {
  const known: ReadonlySet<string> = new Set(CANONICAL_KINDS);
  const kinds = list.split(',');
  const unknown = kinds.find((kind) => !known.has(kind));
  if (unknown !== undefined) throw new UsageError(`there is no kind ${JSON.stringify(unknown)}`);
  return kinds as CanonicalKind[];
}

function shown(item: ThreadItem): string {
  switch (item.type) {
    case 'event': {
      const { kind, deliverySeq, revision, retracted, runId, ...rest } = item.event;
      const {
        schemaVersion: _v,
        eventId: _e,
        seq: _s,
        threadId: _t,
        turnId: _u,
        ts: _ts,
        identity: _i,
        ...body
      } = rest;
      const again = retracted === true ? ' withdrawn' : revision > 0 ? ` revision ${String(revision)}` : '';
      return `${String(deliverySeq)}  ${runId}  ${kind}${again}  ${JSON.stringify(body)}`;
    }
    case 'complete':
      return `${String(item.deliverySeq)}  ${item.complete.runId}  complete  ${item.complete.digest}`;
    case 'caught-up':
      return `— caught up at ${String(item.head)}`;
    case 'cursor-lost':
      return `— what followed ${String(item.after)} is not there any more (${item.code})`;
    case 'gone':
      return '— the thread was erased';
  }
}
