import { CLIENT_METHODS } from '@agentclientprotocol/sdk';
import type { DriverContext, EngineAnswer, EngineQuestion } from '../driver.ts';
import type { ClientFiles } from '../files/client-files.ts';
import type { ClientTerminals } from './client-terminals.ts';
import type { EngineRequest } from '../wire/json-rpc-connection.ts';
import { ElicitationRequest, elicitationResponse, fieldsOf, type ElicitationResponse } from '../wire/elicitation.ts';
import type { OpenTools } from './open-tools.ts';
import { approvalQuestion, outcomeOf, PermissionRequest, type PermissionOutcome } from './permission.ts';
import { paramsOf, unknownMethod } from '../wire/request-fault.ts';

export interface ClientSideParts {
  readonly files: ClientFiles;
  readonly terminals: ClientTerminals;
  readonly tools: OpenTools;
  readonly ask: DriverContext['ask'];
  /** The turn is to end: what is asked now is answered as cancelled. */
  readonly signal: AbortSignal;
  /** Makes the ids of requests, which an agent counts anew each time it is started, unique in its session. */
  readonly launchId: string;
  onToolsChanged(): void;
}

/** What an agent may ask of its client, and what it is answered. */
export class ClientSide {
  readonly #parts: ClientSideParts;

  constructor(parts: ClientSideParts) {
    this.#parts = parts;
  }

  async serve(request: EngineRequest): Promise<unknown> {
    const { files, terminals } = this.#parts;
    const { method, params } = request;
    switch (method) {
      case CLIENT_METHODS.session_request_permission:
        return { outcome: await this.#permission(request) };
      case CLIENT_METHODS.elicitation_create:
        return await this.#elicitation(request);
      case CLIENT_METHODS.fs_read_text_file:
        return await files.read(params);
      case CLIENT_METHODS.fs_write_text_file:
        return await files.write(params);
      case CLIENT_METHODS.terminal_create:
        return await terminals.create(params);
      case CLIENT_METHODS.terminal_output:
        return terminals.output(params);
      case CLIENT_METHODS.terminal_wait_for_exit:
        return await terminals.waitForExit(params);
      case CLIENT_METHODS.terminal_kill:
        return await terminals.kill(params);
      case CLIENT_METHODS.terminal_release:
        return await terminals.release(params);
      default:
        throw unknownMethod(method);
    }
  }

  async #permission(request: EngineRequest): Promise<PermissionOutcome> {
    const { toolCall, options } = paramsOf(PermissionRequest, request.params);
    const { tools } = this.#parts;
    const call = tools.take(toolCall);
    this.#parts.onToolsChanged();
    const answer = await this.#ask(request, approvalQuestion(this.#nativeId(request), call, options));
    const outcome = outcomeOf(answer, options);
    if (answer.status !== 'approved') {
      tools.close(call.toolCallId);
      this.#parts.onToolsChanged();
    }
    return outcome;
  }

  async #elicitation(request: EngineRequest): Promise<ElicitationResponse> {
    const form = paramsOf(ElicitationRequest, request.params);
    // a page cannot be opened from here; nobody is asked to
    if (form.mode !== 'form') return { action: 'decline' };
    const answer = await this.#ask(request, {
      kind: 'question',
      nativeId: this.#nativeId(request),
      toolCallId: form.toolCallId ?? null,
      toolName: 'question',
      prompt: form.message,
      fields: fieldsOf(form),
    });
    return elicitationResponse(form, answer);
  }

  /** Waits for the person, and no longer than the turn or the request lasts. */
  async #ask(request: EngineRequest, question: EngineQuestion): Promise<EngineAnswer> {
    const ended = AbortSignal.any([this.#parts.signal, request.signal]);
    if (ended.aborted) return { status: 'cancelled' };
    const cancelled = Promise.withResolvers<EngineAnswer>();
    const onEnd = () => cancelled.resolve({ status: 'cancelled' });
    ended.addEventListener('abort', onEnd, { once: true });
    try {
      return await Promise.race([this.#parts.ask(question, request.signal), cancelled.promise]);
    } finally {
      ended.removeEventListener('abort', onEnd);
    }
  }

  #nativeId({ id }: EngineRequest): string {
    return `${this.#parts.launchId}:${String(id)}`;
  }
}
