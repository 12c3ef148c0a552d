import { Decision } from '../../../contract/decision.ts';
import type { TidemarkClient } from '../../typescript/client.ts';
import type { Interrupt } from '../../typescript/resources.ts';
import type { InvocationOf } from '../invocation.ts';
import type { Report } from '../report.ts';
import { UsageError } from '../usage.ts';

type Deciding = InvocationOf<'approve'> | InvocationOf<'reject'> | InvocationOf<'answer'>;

/** `approve`, `reject` and `answer`: a person's answer to an interrupt. */
export async function decide(client: TidemarkClient, invocation: Deciding): Promise<Report> {
  const decision = decisionOf(invocation);
  const interrupt = await client.interrupts.resolve(invocation.args[0] ?? '', decision);
  return { document: { interrupt }, lines: [`${interrupt.interrupt_id} ${interrupt.status}: ${shown(interrupt)}`] };
}

function decisionOf(invocation: Deciding): Decision {
  const text = invocation.args.slice(1).join(' ');
  switch (invocation.command) {
    case 'approve': {
      const { args, always } = invocation.values;
      if (args !== undefined) return decisionFrom({ decision: 'edit', edited_args: jsonOf('--args', args) });
      return { decision: always === true ? 'always' : 'approve' };
    }
    case 'reject':
      return { decision: 'reject', ...(text === '' ? {} : { message: text }) };
    case 'answer': {
      const { values, dismiss } = invocation.values;
      if (dismiss === true) return { dismissed: true };
      if (values !== undefined) return decisionFrom({ values: jsonOf('--values', values) });
      if (text === '') throw new UsageError('answer needs a text, --values or --dismiss');
      return { values: { answer: text } };
    }
  }
}

function decisionFrom(given: unknown): Decision {
  const parsed = Decision.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new UsageError('that is no answer: give a JSON object with a value for each name');
}

function jsonOf(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${option} takes JSON, and ${JSON.stringify(text.slice(0, 100))} is none`);
  }
}

function shown({ tool_name: tool, prompt }: Interrupt): string {
  return tool === null ? prompt : `${tool}: ${prompt}`;
}
