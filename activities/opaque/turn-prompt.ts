import { textOf, type Message } from '../../contract/agent-messages.ts';
import type { InterruptRow } from '../../infra/postgres/interrupt.ts';

/** How much of an earlier conversation a new session is told, the newest part of it. */
const CONVERSATION_CHARS = 40_000;
const ARGUMENTS_CHARS = 1_000;

/** What an engine is given when its session holds the conversation so far: the input itself. When it does not: the conversation, too. */
export function openingPrompt(input: string, conversation: readonly Message[]): string {
  const told = conversation.flatMap(lineOf).join('\n\n');
  if (told === '') return input;
  const kept = told.length <= CONVERSATION_CHARS ? told : `[…]\n${told.slice(-CONVERSATION_CHARS)}`;
  return `${CONVERSATION_INTRODUCTION}\n\n<conversation>\n${kept}\n</conversation>\n\n${input}`;
}

const CONVERSATION_INTRODUCTION =
  'This conversation began before your session. What was said so far is between the tags; what follows them is the new message.';

/** What an engine is told that was stopped in the middle of a turn and taken up again. */
export function continuingPrompt(answers: readonly InterruptRow[]): string {
  const answered = answers.map((answer) => `- ${answerLine(answer)}`);
  const decided =
    answered.length === 0
      ? []
      : [
          'In the meantime a person has decided what you had asked for. Ask again for what you still want to do:',
          ...answered,
        ];
  return [
    'Your process was stopped in the middle of this turn and your session was taken up again.',
    'Tool calls that were under way may or may not have taken effect: look before you repeat one.',
    ...decided,
    'Go on with the task.',
  ].join('\n');
}

function answerLine({ tool_name: toolName, arguments: args, status, decision }: InterruptRow): string {
  const { message, values } = JSON.parse(decision ?? '{}') as { message?: string; values?: unknown };
  const said = message ?? (values === undefined ? '' : JSON.stringify(values));
  return `${toolName} ${args.slice(0, ARGUMENTS_CHARS)}: ${status}${said === '' ? '' : ` (${said.slice(0, ARGUMENTS_CHARS)})`}`;
}

function lineOf(message: Message): string[] {
  if (message.role === 'tool-result') return [];
  const { content } = message;
  const text =
    typeof content === 'string' ? content : textOf(content.flatMap((block) => (block.type === 'text' ? [block] : [])));
  return text === '' ? [] : [`${message.role === 'user' ? 'User' : 'Assistant'}: ${text}`];
}
