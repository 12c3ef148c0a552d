import { shownCallOf, type Block, type PiApi, type PiContext, type ToolCallEvent } from './pi-api.ts';
import { APPROVAL_TITLE, ASK_FLAG, type ApprovalAnswer, type ApprovalRequest } from './protocol.ts';

/** Entry of a session: what need not be asked for in it any more. */
const ALWAYS_ENTRY = 'tidemark.always';

/**
 * Asks before a tool runs that changes something, which pi itself never does.
 *
 * **Contract:** such a tool runs only after an answer that says so: whatever cannot be asked, or is answered by something else,
 * blocks it. `always` is kept in the session, for the same command of a shell, and for every call of another tool. Edited
 * arguments are what the tool is given, and nothing of the old ones.
 */
export function gateTools(pi: PiApi): void {
  pi.on('tool_call', async (event, ctx) => {
    if (!isAsked(String(pi.getFlag(ASK_FLAG) ?? ''), event.toolName)) return undefined;
    if (isAllowed(ctx, scopeOf(event))) return undefined;
    const { signal } = ctx;
    const asked = await ctx.ui.input(APPROVAL_TITLE, JSON.stringify(requestOf(pi, event)), signal ? { signal } : {});
    return carryOut(pi, event, asked === undefined ? null : answerIn(asked));
  });
}

/** A name, or the beginning of one and a `*`. */
function isAsked(names: string, toolName: string): boolean {
  return names.split(',').some((name) => {
    return name.endsWith('*') ? toolName.startsWith(name.slice(0, -1)) : name === toolName;
  });
}

function isAllowed(ctx: PiContext, scope: string): boolean {
  return ctx.sessionManager.getBranch().some(({ customType, data }) => {
    return customType === ALWAYS_ENTRY && (data as { scope?: unknown } | null | undefined)?.scope === scope;
  });
}

function scopeOf({ toolName, input }: ToolCallEvent): string {
  const { command } = input;
  return typeof command === 'string' ? `${toolName}: ${command}` : toolName;
}

function requestOf(pi: PiApi, event: ToolCallEvent): ApprovalRequest {
  const { toolName, input } = event;
  const schema = pi.getAllTools().find(({ name }) => name === toolName)?.parameters;
  return {
    toolCallId: shownCallOf(event),
    toolName,
    input,
    schema: typeof schema === 'object' && schema !== null ? (schema as Record<string, unknown>) : null,
  };
}

function answerIn(text: string): ApprovalAnswer | null {
  try {
    return JSON.parse(text) as ApprovalAnswer | null;
  } catch {
    return null;
  }
}

function carryOut(pi: PiApi, event: ToolCallEvent, answer: ApprovalAnswer | null): Block | undefined {
  switch (answer?.decision) {
    case 'approve':
      return undefined;
    case 'always':
      pi.appendEntry(ALWAYS_ENTRY, { scope: scopeOf(event) });
      return undefined;
    case 'edit': {
      const { input } = event;
      for (const name of Object.keys(input)) delete input[name];
      Object.assign(input, answer.input);
      return undefined;
    }
    case 'reject': {
      const why = answer.message === '' ? '.' : `: ${answer.message}`;
      return { block: true, reason: `The user rejected this call${why}` };
    }
    case undefined:
    default:
      return { block: true, reason: 'Nobody approved this call.' };
  }
}
