import { once } from 'node:events';
import type { ScriptedServer, StoredMessage } from './scripted-server-testkit.ts';

type Fields = Record<string, unknown>;
type Step = (rest: string) => Promise<void> | void;

const ABORTED = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
const TOKENS = { input: 100, output: 20, reasoning: 10, cache: { read: 20, write: 0 } };

/**
 * A turn of the scripted server. A prompt is a script, a step a line: `text …`, `bash …`, `edit …`, `write …` (over a file, when it is told to), `permission`, `question`,
 * `child …`, `plan`, `retry n`, `fail …`, `slow` (until it is aborted), `break` (of the stream of events), `connected` (when
 * somebody listens again), `malformed …`, `crash n`.
 */
export class ScriptedTurn {
  readonly #server: ScriptedServer;
  readonly #sessionId: string;
  readonly #signal: AbortSignal;
  #message: StoredMessage | null = null;

  constructor(server: ScriptedServer, sessionId: string, signal: AbortSignal) {
    this.#server = server;
    this.#sessionId = sessionId;
    this.#signal = signal;
  }

  async play(body: Fields): Promise<void> {
    const [told] = body['parts'] as { text: string; metadata: Fields }[];
    const lines = (told?.text ?? '').split('\n');
    this.#server.working = true;
    this.#user(told ?? {});
    this.#emit('session.status', { status: { type: 'busy' } });
    this.#begin();
    for (const line of lines) {
      if (this.#signal.aborted) break;
      const [name = '', ...rest] = line.split(' ');
      await this.#steps[name]?.(rest.join(' '));
    }
    this.#server.working = false;
    if (this.#signal.aborted) this.#emit('session.error', { error: ABORTED });
    if (this.#signal.aborted) this.#idle();
    this.#finish(this.#signal.aborted ? { error: ABORTED } : {});
    this.#idle();
  }

  readonly #steps: Readonly<Record<string, Step>> = {
    text: (words) => this.#text('text', words),
    think: (words) => this.#text('reasoning', words),
    bash: (output) => this.#bash(output),
    edit: (file) => this.#edit(file),
    write: async (words) => await this.#write(words),
    permission: async () => await this.#permission(),
    question: async () => await this.#question(),
    child: (words) => this.#child(words),
    plan: () => {
      this.#server.todos = [{ content: 'Look', status: 'in_progress' }];
      this.#emit('todo.updated', { todos: this.#server.todos });
    },
    retry: (times) => this.#retry(Number(times)),
    fail: (message) => {
      const error = { name: 'APIError', data: { message, statusCode: 400 } };
      this.#emit('session.error', { error });
      this.#finish({ error });
    },
    slow: async () => void (await this.#stopped()),
    break: () => this.#server.breakOff(),
    connected: async () => {
      while (this.#server.listeners === 0) await new Promise((resolve) => setImmediate(resolve));
    },
    malformed: (line) => this.#server.say(line),
    crash: async (code) => await this.#server.exit(Number(code)),
  };

  #emit(type: string, properties: Fields, sessionID = this.#sessionId): void {
    this.#server.emit(type, { sessionID, ...properties });
  }

  #idle(): void {
    this.#emit('session.status', { status: { type: 'idle' } });
    this.#emit('session.idle', {});
  }

  #user(part: Fields): void {
    const message = this.#stored({ role: 'user' });
    this.#update(message, { ...part, type: 'text' });
  }

  #begin(): void {
    this.#message = this.#stored({
      role: 'assistant',
      agent: 'build',
      providerID: 'local',
      modelID: 'scripted',
      time: { created: 1 },
    });
    this.#update(this.#message, { type: 'step-start' });
  }

  #finish(more: Fields): void {
    const message = this.#message;
    if (message === null || (message.info['time'] as Fields)['completed'] !== undefined) return;
    if (more['error'] === undefined) this.#update(message, { type: 'step-finish', tokens: TOKENS, cost: 0 });
    Object.assign(message.info, { time: { created: 1, completed: 2 }, finish: 'stop', ...more });
    this.#emit('message.updated', { info: message.info });
  }

  #stored(fields: Fields, sessionID = this.#sessionId): StoredMessage {
    const message = { info: { id: this.#server.id('msg'), sessionID, ...fields }, parts: [] };
    this.#server.messages.get(sessionID)?.push(message);
    this.#emit('message.updated', { info: message.info }, sessionID);
    return message;
  }

  /** A part that is new, or as it is now. */
  #update(message: StoredMessage, fields: Fields, id = this.#server.id('prt')): string {
    const sessionID = message.info['sessionID'] as string;
    const part = { id, messageID: message.info.id, sessionID, ...fields };
    message.parts = [...message.parts.filter((other) => other.id !== id), part];
    this.#emit('message.part.updated', { part, time: 1 }, sessionID);
    return id;
  }

  #own(): StoredMessage {
    if (this.#message === null) throw new Error('the turn has no message');
    return this.#message;
  }

  #text(type: string, words: string): void {
    const message = this.#own();
    const partID = this.#update(message, { type, text: '', time: { start: 1 } });
    for (const delta of words.split(/(?<= )/)) {
      this.#emit('message.part.delta', { messageID: message.info.id, partID, field: 'text', delta });
    }
    this.#update(message, { type, text: words, time: { start: 1, end: 2 } }, partID);
  }

  #tool(tool: string, callID: string): (state: Fields) => void {
    const message = this.#own();
    const id = this.#update(message, { type: 'tool', tool, callID, state: { status: 'pending', input: {} } });
    return (state) => void this.#update(message, { type: 'tool', tool, callID, state }, id);
  }

  #bash(output: string): void {
    const call = this.#tool('bash', 'call_bash');
    const input = { command: 'run' };
    call({ status: 'running', input, metadata: { output } });
    call({ status: 'completed', input, output, metadata: { output, exit: 0 }, time: { start: 1, end: 3 } });
  }

  #edit(file: string): void {
    const call = this.#tool('edit', 'call_edit');
    const input = { filePath: file };
    call({ status: 'running', input });
    const filediff = { file, patch: `Index: ${file}\n--- ${file}\n+++ ${file}\n@@ -1,1 +1,1 @@\n-old\n+new\n` };
    call({ status: 'completed', input, output: 'done', metadata: { filediff } });
  }

  /** Replaces a file by what it is given, when the driver has seen that it is about to. */
  async #write(file: string): Promise<void> {
    const call = this.#tool('write', 'call_write');
    const input = { filePath: file, content: 'new' };
    call({ status: 'running', input });
    await this.#server.onWrite();
    call({ status: 'completed', input, output: 'done', metadata: { filepath: file, exists: true } });
  }

  async #permission(): Promise<void> {
    const call = this.#tool('bash', 'call_1');
    const request = { permission: 'bash', patterns: ['make it'], metadata: { command: 'make it' }, always: ['make *'] };
    const input = { command: 'make it' };
    const answer = await this.#ask(
      'permission',
      { ...request, tool: { callID: 'call_1', messageID: this.#own().info.id } },
      () => call({ status: 'running', input }),
    );
    if (answer?.['reply'] === 'reject' || answer === null) call({ status: 'error', input, error: 'rejected' });
    else call({ status: 'completed', input, output: String(answer['reply']), metadata: { exit: 0 } });
  }

  async #question(): Promise<void> {
    const call = this.#tool('question', 'call_q');
    const questions = [{ question: 'Which colour?', header: 'Colour', options: [{ label: 'Red' }, { label: 'Blue' }] }];
    const answer = await this.#ask(
      'question',
      { questions, tool: { callID: 'call_q', messageID: this.#own().info.id } },
      () => call({ status: 'running', input: { questions } }),
    );
    if (answer?.['verb'] === 'reply') this.#text('text', JSON.stringify(answer['answers']));
    call({ status: 'completed', input: { questions }, output: 'asked' });
  }

  async #ask(kind: 'permission' | 'question', fields: Fields, told: () => void): Promise<Fields | null> {
    const id = this.#server.id(kind === 'permission' ? 'per' : 'que');
    const request = { id, sessionID: this.#sessionId, ...fields };
    const answered = new Promise<Fields>((resolve) => this.#server.open.set(id, { kind, request, answered: resolve }));
    this.#emit(`${kind}.asked`, request);
    told();
    const answer = await Promise.race([answered, this.#stopped()]);
    if (answer === null) return null;
    this.#emit(`${kind}.replied`, { requestID: id });
    return answer;
  }

  #child(words: string): void {
    const child = { id: this.#server.id('ses'), parentID: this.#sessionId, title: 'Look around', agent: 'general' };
    this.#server.messages.set(child.id, []);
    this.#server.children.push(child);
    const call = this.#tool('task', 'call_task');
    this.#emit('session.created', { info: child }, child.id);
    const input = { description: 'Look around', prompt: 'look' };
    const metadata = { sessionId: child.id };
    call({ status: 'running', input, metadata });
    const message = this.#stored({ role: 'assistant', time: { created: 1, completed: 2 } }, child.id);
    this.#update(message, { type: 'text', text: words, time: { start: 1, end: 2 } });
    this.#emit('session.idle', {}, child.id);
    call({ status: 'completed', input, output: words, metadata });
  }

  #retry(times: number): void {
    for (let attempt = 1; attempt <= times; attempt++) {
      this.#emit('session.status', { status: { type: 'retry', attempt, message: 'Overloaded', next: 1 } });
    }
  }

  async #stopped(): Promise<null> {
    if (!this.#signal.aborted) await once(this.#signal, 'abort');
    return null;
  }
}
