import type { DriverContext } from '../driver.ts';
import { approvalOf, permissionReply } from './approval.ts';
import type { ServerCall } from './call-frames.ts';
import { PermissionAsked, type ServerEvent } from './opencode-schema.ts';
import type { OpenTools } from './open-tools.ts';
import { answersOf, QuestionAsked, questionOf } from './question.ts';
import { z } from 'zod';

export interface RequestsParts {
  readonly ask: DriverContext['ask'];
  readonly tools: OpenTools;
  /** Sends an answer; that nobody waits for it any more is no fault. */
  reply(call: ServerCall): Promise<void>;
  /** The platform could not ask, or the server was not told. */
  onFault(error: unknown): void;
}

const Closed = z.object({ requestID: z.string() });
const CLOSING: ReadonlySet<string> = new Set(['permission.replied', 'question.replied', 'question.rejected']);

/**
 * What the engine asks of a person while its turn goes on.
 *
 * **Contract:** a request is asked once, however often it is told. One that the engine takes back, or whose turn is over, is
 * withdrawn.
 */
export class Requests {
  readonly #parts: RequestsParts;
  readonly #seen = new Set<string>();
  readonly #open = new Map<string, AbortController>();

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /** Takes an event. */
  take({ type, properties }: ServerEvent): void {
    if (CLOSING.has(type)) this.#open.get(Closed.safeParse(properties).data?.requestID ?? '')?.abort();
    const permission = type === 'permission.asked' ? PermissionAsked.safeParse(properties).data : undefined;
    if (permission !== undefined)
      this.#hold(permission.id, async (withdrawn) => await this.#permit(permission, withdrawn));
    const question = type === 'question.asked' ? QuestionAsked.safeParse(properties).data : undefined;
    if (question !== undefined) this.#hold(question.id, async (withdrawn) => await this.#question(question, withdrawn));
  }

  /** The turn is over: nobody waits for an answer any more. */
  withdrawAll(): void {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
  }

  #hold(id: string, work: (withdrawn: AbortSignal) => Promise<void>): void {
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    const withdrawn = new AbortController();
    this.#open.set(id, withdrawn);
    void work(withdrawn.signal)
      .catch((error: unknown) => this.#parts.onFault(error))
      .finally(() => this.#open.delete(id));
  }

  async #permit(asked: PermissionAsked, withdrawn: AbortSignal): Promise<void> {
    const { id, sessionID, tool } = asked;
    const call = tool == null ? null : this.#parts.tools.callOf({ sessionID, callID: tool.callID });
    const answer = await this.#parts.ask(approvalOf(asked, call), withdrawn);
    if (!withdrawn.aborted)
      await this.#parts.reply({ method: 'POST', path: `/permission/${id}/reply`, body: permissionReply(answer) });
  }

  async #question(asked: QuestionAsked, withdrawn: AbortSignal): Promise<void> {
    const { id, sessionID, tool } = asked;
    const call = tool == null ? null : this.#parts.tools.callOf({ sessionID, callID: tool.callID });
    const answer = await this.#parts.ask(questionOf(asked, call?.id ?? null), withdrawn);
    if (withdrawn.aborted) return;
    const answers = answersOf(asked, answer);
    const path = `/question/${id}`;
    await this.#parts.reply(
      answers === null
        ? { method: 'POST', path: `${path}/reject`, body: {} }
        : { method: 'POST', path: `${path}/reply`, body: { answers } },
    );
  }
}
