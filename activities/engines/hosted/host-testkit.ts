import assert from 'node:assert/strict';
import { vi } from 'vitest';
import type { NativeFrame } from '../../../contract/frames.ts';
import type { EngineAnswer } from '../driver.ts';
import type { HostEnd, HostQuestion } from './host-protocol.ts';
import type { HostedAgent, OpenAgent, ToolOutput, TurnLine } from './hosted-agent.ts';

interface Opening {
  readonly openAgent: OpenAgent;
  readonly agent: unknown;
  /** Where sessions are kept. */
  readonly sessions: string;
  readonly options?: Readonly<Record<string, string>>;
}

/** A host without a process: one agent in this one, its turns, and what a person answers. */
export class HostStage {
  readonly frames: NativeFrame[] = [];
  readonly outputs: ToolOutput[] = [];
  readonly questions: HostQuestion[] = [];
  readonly awaited: ('model' | 'tool')[] = [];
  readonly cancel = new AbortController();
  answer: (question: HostQuestion) => EngineAnswer | null = () => null;
  readonly #opening: Opening;
  readonly #runId: string;

  constructor(opening: Opening, runId = 'run-1') {
    this.#opening = opening;
    this.#runId = runId;
  }

  /** What a process after this one finds: the sessions alone. */
  later(runId = this.#runId): HostStage {
    return Object.assign(new HostStage(this.#opening, runId), { answer: this.answer });
  }

  get sessions(): string {
    return this.#opening.sessions;
  }

  async open(known: string | null): Promise<HostedAgent> {
    const { openAgent, agent, sessions, options = {} } = this.#opening;
    const module = {
      agent,
      choosesModel: false,
      importLibrary: async (name: string): Promise<unknown> => await import(name),
    };
    const opening = {
      known,
      runId: this.#runId,
      threadId: 'thread',
      workspace: sessions,
      model: null,
      sessions,
      options,
    };
    return await openAgent(module, opening);
  }

  /** One turn of a new session, or of a known one, to its end. */
  async turn(script: string, known: string | null = null): Promise<{ agent: HostedAgent; end: HostEnd }> {
    const agent = await this.open(known);
    return { agent, end: await agent.turn(script, this.#line()) };
  }

  /** Begins a turn of a new session that is never heard of again once `when` holds; gives the session's id. */
  async cutOff(script: string, when: () => boolean): Promise<string> {
    const agent = await this.open(null);
    void agent.turn(script, this.#line());
    await this.until(when);
    return agent.nativeSessionId;
  }

  async until(condition: () => boolean): Promise<void> {
    await vi.waitFor(() => assert(condition()), { timeout: 20_000, interval: 5 });
  }

  types(): string[] {
    return this.frames.map(({ type }) => type);
  }

  of<T>(type: string, field: string): T[] {
    return this.frames.filter((frame) => frame.type === type).map((frame) => frame[field] as T);
  }

  #line(): TurnLine {
    return {
      signal: this.cancel.signal,
      frame: (frame, output = null) => {
        this.frames.push(frame);
        if (output !== null) this.outputs.push(output);
        return Promise.resolve();
      },
      awaits: (who) => void this.awaited.push(who),
      ask: async (questions) => {
        this.questions.push(...questions);
        const answers = questions.map((question) => this.answer(question));
        const given = answers.filter((answer) => answer !== null);
        // nobody answers: a person is waited for
        return given.length === answers.length ? given : await new Promise<never>(() => undefined);
      },
    };
  }
}
