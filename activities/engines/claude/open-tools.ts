import { z } from 'zod';
import { AssistantMessage, UserMessage } from './claude-schema.ts';
import type { ClaudeMessage } from './claude-frames.ts';

const REMEMBERED = 200;

const Tasks = z.object({
  tasks: z.array(z.object({ task_type: z.string().catch(''), ambient: z.boolean().catch(false) })),
});

/** What works for the turn beside its model: tools, and between two rounds the sub-agents that were sent off. */
export class OpenTools {
  readonly #inputs = new Map<string, unknown>();
  #agents = 0;
  #isBetweenRounds = false;

  /** Takes a message. */
  take(message: ClaudeMessage): void {
    switch (message['type']) {
      case 'assistant':
        this.#begin(message);
        break;
      case 'user':
        this.#end(message);
        break;
      case 'result':
        this.#isBetweenRounds = true;
        // of what the round has left open nothing more is heard
        this.#inputs.clear();
        break;
      case 'system':
        if (message['subtype'] === 'init') this.#isBetweenRounds = false;
        if (message['subtype'] === 'background_tasks_changed') this.#agents = agentsIn(message);
        break;
      default:
    }
  }

  /** What an open call is to do, by the model's own word. */
  inputOf(toolCallId: string): unknown {
    return this.#inputs.get(toolCallId);
  }

  get isOneOpen(): boolean {
    return this.#inputs.size > 0 || this.isOneSentOff;
  }

  /** The turn goes on with what a sub-agent finds. */
  get isOneSentOff(): boolean {
    return this.#isBetweenRounds && this.#agents > 0;
  }

  #begin(message: ClaudeMessage): void {
    const content = AssistantMessage.safeParse(message).data?.message.content ?? [];
    if (typeof content === 'string') return;
    for (const { type, id, input } of content) {
      if (type === 'tool_use' && id !== '') this.#inputs.set(id, input);
    }
    const [oldest] = this.#inputs.keys();
    if (this.#inputs.size > REMEMBERED && oldest !== undefined) this.#inputs.delete(oldest);
  }

  #end(message: ClaudeMessage): void {
    const content = UserMessage.safeParse(message).data?.message.content ?? [];
    if (typeof content === 'string') return;
    for (const { type, tool_use_id: id } of content) if (type === 'tool_result') this.#inputs.delete(id);
  }
}

function agentsIn(message: ClaudeMessage): number {
  const tasks = Tasks.safeParse(message).data?.tasks ?? [];
  return tasks.filter(({ task_type: type, ambient }) => type === 'local_agent' && !ambient).length;
}
