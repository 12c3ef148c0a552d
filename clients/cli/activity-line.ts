import type { CanonicalEventOf, CanonicalKind, DeliveredEvent } from '../../contract/canonical.ts';
import type { Run } from '../typescript/resources.ts';

/** How a settled run ended, in a line. */
export function endingOf({ run_id: runId, status, stop_reason: reason, error }: Run): string {
  if (status === 'completed') return `${runId} completed`;
  return `${runId} ${status}: ${error === null ? (reason ?? 'no reason was given') : `${error.code}: ${error.message}`}`;
}

/** What an event says beside the conversation's text, in lines; null for what has none. */
export function activityLine(event: DeliveredEvent): string | null {
  if (event.retracted === true) return null;
  const line = (LINES as Readonly<Partial<Record<string, Line<CanonicalKind> | null>>>)[event.kind];
  // of kinds that are newer than this program nothing is known
  return line == null ? null : line(event);
}

type Line<Kind extends CanonicalKind> = (event: CanonicalEventOf<Kind>) => string;

/** Null: text, which is shown as it streams, and what is no news to a person. */
const LINES: Readonly<{ [Kind in CanonicalKind]: Line<Kind> | null }> = {
  'session.started': null,
  'session.metadata': null,
  'turn.started': null,
  'turn.completed': null,
  'message.started': null,
  'message.delta': null,
  'message.completed': null,
  'reasoning.delta': null,
  'reasoning.completed': null,
  'plan.updated': ({ entries }) => {
    return ['Plan:', ...entries.map(({ text, status }) => `  ${PLAN_MARKS[status]} ${text}`)].join('\n');
  },
  'tool.started': ({ title, name, input }) => {
    return `→ ${title ?? name}${input === undefined ? '' : ` ${short(JSON.stringify(input))}`}`;
  },
  'tool.progress': null,
  'tool.completed': ({ status, error, preview }) => {
    return `${status === 'ok' ? '✓' : '✗'} ${short(error ?? preview ?? '')}`.trimEnd();
  },
  'file.changed': ({ changeType, path }) => `± ${changeType} ${path}`,
  'artifact.created': ({ name, artifact }) => `⧉ ${name} (${String(artifact.bytes)} bytes, ${artifact.artifactId})`,
  'artifact.delivered': ({ name, destination }) => `⧉ ${name} → ${destination}`,
  'terminal.output': null,
  'child.started': ({ title, childId }) => `┌ ${title ?? childId}`,
  'child.updated': null,
  'child.completed': ({ childId, status, result }) => {
    return `└ ${childId} ${status}${result === undefined ? '' : `: ${short(result)}`}`;
  },
  'approval.requested': null,
  'approval.resolved': ({ decision }) => `· ${decision}`,
  'question.requested': null,
  'question.resolved': ({ answer }) => `· ${answer}`,
  'commands.updated': null,
  'mode.updated': ({ mode, model }) => `· ${[mode, model].filter((part) => part !== undefined).join(', ')}`,
  'usage.updated': null,
  'context.marker': ({ title, detail }) => `· ${title}${detail === undefined ? '' : `: ${short(detail)}`}`,
  'harness.warning': ({ message }) => `! ${message}`,
  'harness.error': ({ code, message }) => `! ${code === undefined ? '' : `${code}: `}${message}`,
};

const PLAN_MARKS = { pending: '○', in_progress: '◐', completed: '●', cancelled: '×' } as const;
const SHOWN_CHARS = 160;

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS - 1)}…`;
}
