import type { TidemarkClient } from '../../typescript/client.ts';
import type { InvocationOf } from '../invocation.ts';
import type { Report } from '../report.ts';

/** `threads`, `runs` and `interrupts`: lists, whole. */
export async function list(
  client: TidemarkClient,
  { command, values, args }: InvocationOf<'threads'> | InvocationOf<'runs'> | InvocationOf<'interrupts'>,
): Promise<Report> {
  switch (command) {
    case 'threads': {
      const data = await all(client.threads.list());
      return listed(data, ({ thread_id: id, title, updated_at: at }) => [id, at, title ?? '']);
    }
    case 'runs': {
      const data = await all(client.runs.ofThread(args[0] ?? ''));
      return listed(data, (run) => [run.run_id, statusOf(run), run.engine, run.model, run.input]);
    }
    case 'interrupts': {
      const data = await all(client.interrupts.list({ threadId: values.thread }));
      return listed(data, ({ interrupt_id: id, kind, run_id: run, tool_name: tool, prompt }) => [
        ...[id, kind, run],
        tool === null ? prompt : `${tool}: ${prompt}`,
      ]);
    }
  }
}

function listed<Item>(data: readonly Item[], cells: (item: Item) => readonly string[]): Report {
  const lines = data.map((item) => cells(item).map(oneLine).join('  ').trimEnd());
  return { document: { data }, lines: lines.length === 0 ? ['(none)'] : lines };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const data: Item[] = [];
  for await (const item of items) data.push(item);
  return data;
}

function statusOf({
  status,
  stop_reason: reason,
}: {
  readonly status: string;
  readonly stop_reason: string | null;
}): string {
  return reason === null ? status : `${status} (${reason})`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}
