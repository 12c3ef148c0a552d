import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { faultText } from './fault-text.ts';
import { knownBy } from './messages.ts';
import { Commands, ResponseFrame, SessionState } from './pi-schema.ts';
import { quiet, saying, unread, type PiState, type Step } from './translation-state.ts';

const NAME_CHARS = 500;
const DESCRIPTION_CHARS = 300;
const QUEUED_REMEMBERED = 50;

/** Answers whose end is told by something else, also when they are refusals. */
const ANSWERED_ELSEWHERE: Readonly<Record<string, string>> = {
  prompt: 'the turn begins with agent_start, or the run ends with it',
  abort: 'the turn says how it ends',
  clear_queue: 'the turn says how it ends',
};

export function responded(state: PiState, frame: NativeFrame): Step {
  const response = ResponseFrame.safeParse(frame).data;
  if (response === undefined) return unread(state);
  const { command, success, error, data } = response;
  const why = Object.hasOwn(ANSWERED_ELSEWHERE, command) ? ANSWERED_ELSEWHERE[command] : undefined;
  if (why !== undefined) return quiet(state, why);
  if (!success) return saying(state, [warning(frame, `${command}: ${error ?? 'refused'}`)]);
  if (command === 'get_state') return saying(state, stateFacts(data), 'an empty session');
  if (command === 'get_commands') return saying(state, [commandsOf(data)]);
  return quiet(state, 'asked by the platform itself');
}

function stateFacts(data: unknown): CanonicalBody[] {
  const session = SessionState.safeParse(data).data;
  if (session === undefined) return [];
  const { model, sessionName } = session;
  return [
    ...(model == null ? [] : [{ kind: 'mode.updated', model: `${model.provider}/${model.id}` } as const]),
    ...(sessionName == null || sessionName === '' ? [] : [title(sessionName)]),
  ];
}

function commandsOf(data: unknown): CanonicalBody {
  const { commands } = Commands.catch({ commands: [] }).parse(data);
  const catalog = commands.map(({ name, description }) => {
    return description == null ? { name } : { name, description: previewText(description, DESCRIPTION_CHARS) };
  });
  return { kind: 'commands.updated', commands: commands.map(({ name }) => name), catalog };
}

const Fact = z.object({
  name: z.string().nullish().catch(null),
  level: z.string().catch(''),
  followUp: z.array(z.string()).catch([]),
  attempt: z.number().nullish().catch(null),
  maxAttempts: z.number().nullish().catch(null),
  errorMessage: z.string().nullish().catch(null),
  aborted: z.boolean().catch(false),
  result: z.unknown().optional(),
  event: z.string().catch(''),
  error: z.string().catch(''),
});

/** What pi tells of its session and its own work, beside messages and tools; null for a frame that is none of these. */
export function factOf(state: PiState, frame: NativeFrame): Step | null {
  const fact = Fact.parse(frame);
  const { name, level, attempt, maxAttempts, errorMessage } = fact;
  switch (frame.type) {
    case 'session_info_changed':
      return saying(state, name == null ? [] : [title(name)], 'a session without a name');
    case 'thinking_level_changed':
      return saying(state, [{ kind: 'session.metadata', metadata: { thinkingLevel: level } }]);
    case 'queue_update': {
      const followUps = [...state.followUps, ...fact.followUp.map(knownBy)];
      const next = { ...state, followUps: [...new Set(followUps)].slice(-QUEUED_REMEMBERED) };
      return quiet(next, 'an input is said when it is taken');
    }
    case 'auto_retry_start':
    case 'summarization_retry_scheduled': {
      const which =
        attempt == null ? '' : ` (${String(attempt)}${maxAttempts == null ? '' : ` of ${String(maxAttempts)}`})`;
      const message = `the model is asked again${which}: ${faultText(errorMessage)}`;
      return saying(state, [{ ...warning(frame, message), code: 'model_retry' }]);
    }
    case 'compaction_end':
      return saying(state, [compaction(frame, fact)]);
    case 'extension_error':
      return saying(state, [warning(frame, `an extension failed in ${fact.event}: ${fact.error}`)]);
    default:
      return null;
  }
}

function compaction(frame: NativeFrame, { result, aborted, errorMessage }: z.infer<typeof Fact>): CanonicalBody {
  if (result != null) {
    const marked = { markerType: 'memory', title: 'the conversation was compacted' } as const;
    return { kind: 'context.marker', ...marked, sourceEventType: frame.type };
  }
  const why = aborted ? 'it was stopped' : faultText(errorMessage);
  return warning(frame, `the conversation was not compacted: ${why}`);
}

function title(name: string): CanonicalBody {
  return { kind: 'session.metadata', metadata: { title: previewText(name, NAME_CHARS) } };
}

function warning(frame: NativeFrame, message: string): CanonicalBody<'harness.warning'> {
  return { kind: 'harness.warning', message: faultText(message), rawEventType: frame.type };
}
