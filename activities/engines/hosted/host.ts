import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import type { EngineAnswer } from '../driver.ts';
import { linesOf } from '../wire/json-lines.ts';
import type { HostCommand, HostEnd, HostOpening, HostSaying } from './host-protocol.ts';
import { AgentRefusal, type HostedAgent, type TurnLine } from './hosted-agent.ts';

/**
 * The host's side of the conversation with its driver: opens the agent, plays one turn, passes answers and a cancellation on.
 *
 * **Contract:** what is said is said in order, and no faster than the driver takes it. `serve` resolves when the driver has gone.
 */
export class Host {
  readonly #output: Writable;
  readonly #openAgent: (opening: HostOpening) => Promise<HostedAgent & { readonly choosesModel: boolean }>;
  readonly #cancel = new AbortController();
  #agent: HostedAgent | null = null;
  #answered: ((answers: readonly EngineAnswer[]) => void) | null = null;

  constructor(output: Writable, openAgent: (opening: HostOpening) => Promise<HostedAgent & { choosesModel: boolean }>) {
    this.#output = output;
    this.#openAgent = openAgent;
  }

  async serve(input: Readable): Promise<void> {
    for await (const line of linesOf(input)) {
      const command = JSON.parse(line) as HostCommand;
      switch (command.do) {
        case 'open':
          await this.#open(command);
          break;
        case 'prompt':
          // a rejection is a fault of this host: it ends the process, and standard error says why
          void this.#prompt(command.text);
          break;
        case 'answer':
          this.#answered?.(command.answers);
          break;
        case 'cancel':
          this.#cancel.abort();
          break;
      }
    }
  }

  async #open(opening: HostOpening): Promise<void> {
    try {
      const agent = await this.#openAgent(opening);
      const { nativeSessionId, resumed, resumable, choosesModel } = agent;
      this.#agent = agent;
      await this.#say({ said: 'opened', nativeSessionId, resumed, resumable, choosesModel });
    } catch (error) {
      if (!(error instanceof AgentRefusal)) throw error;
      await this.#say({ said: 'refused', what: error.what, reason: error.message });
    }
  }

  async #prompt(text: string): Promise<void> {
    const end: HostEnd = (await this.#agent?.turn(text, this.#line())) ?? NOT_OPENED;
    await this.#say({ said: 'ended', end });
  }

  #line(): TurnLine {
    const { signal } = this.#cancel;
    return {
      signal,
      frame: async (frame, output = null) => {
        const isLong = output !== null && output.text.length > PREVIEW_LIMIT_CHARS;
        await this.#say({ said: 'frame', frame, ...(isLong ? { output } : {}) });
      },
      awaits: (who) => void this.#say({ said: 'awaits', who }),
      ask: async (questions) => {
        if (signal.aborted) return null;
        const answers = new Promise<readonly EngineAnswer[] | null>((resolve) => {
          this.#answered = resolve;
          signal.addEventListener('abort', () => resolve(null), { once: true });
        });
        await this.#say({ said: 'asks', questions: [...questions] });
        return await answers;
      },
    };
  }

  async #say(saying: HostSaying): Promise<void> {
    if (!this.#output.write(`${JSON.stringify(saying)}\n`)) await once(this.#output, 'drain');
  }
}

const NOT_OPENED: HostEnd = { outcome: 'failed', message: 'the agent was not opened' };
