import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import type { EngineExit, EngineProcess } from '../process/engine-process.ts';
import { ScriptedTurn } from './scripted-turn-testkit.ts';

type Fields = Record<string, unknown>;

/** What the server keeps of a session, as `GET /session/…/message` gives it. */
export interface StoredMessage {
  info: Fields & { id: string };
  parts: (Fields & { id: string })[];
}

/** A server that speaks OpenCode's protocol in this process and plays the prompts as scripts (`ScriptedTurn`). */
export class ScriptedServer {
  readonly asked: { method: string; path: string; body: unknown; authorization: string | undefined }[] = [];
  readonly messages = new Map<string, StoredMessage[]>();
  readonly open = new Map<
    string,
    { kind: 'permission' | 'question'; request: Fields; answered: (body: Fields) => void }
  >();
  /** Answers that are given instead of the right ones: by method and path. */
  readonly refusals = new Map<string, { status: number; body: unknown }>();
  /** What a step that writes does. */
  onWrite: () => Promise<void> = () => Promise.resolve();
  working = false;
  children: Fields[] = [];
  todos: Fields[] = [];
  directory: string | null = null;
  #server: Server;
  #streams = new Set<ServerResponse>();
  #stop = new AbortController();
  #ids = 0;
  readonly #exit = Promise.withResolvers<EngineExit>();
  readonly #stdout = new PassThrough();

  constructor() {
    this.#server = createServer((req, res) => void this.#answer(req, res));
  }

  /** The server as the driver's child process. */
  process(): EngineProcess {
    this.#server.listen(0, '127.0.0.1', () => {
      const { port } = this.#server.address() as AddressInfo;
      this.#stdout.write(`a line before\nopencode server listening on http://127.0.0.1:${String(port)}\n`);
    });
    const kill = async () => await this.exit(null);
    const stdin = new Writable({ write: (_chunk, _encoding, done) => done() });
    return { pid: 0, stdin, stdout: this.#stdout, exited: this.#exit.promise, interrupt: () => {}, kill };
  }

  /** Output of a process that prints nothing. */
  silence(): PassThrough {
    return new PassThrough();
  }

  /** The process ends: with what it has said before. */
  async exit(code: number | null): Promise<void> {
    this.#stop.abort();
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
    this.#exit.resolve({ code, signal: code === null ? 'SIGTERM' : null, stderrTail: '', overMemory: false });
    this.#stdout.end();
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeIdleConnections();
    await once(this.#server, 'close');
  }

  emit(type: string, properties: Fields): void {
    for (const stream of this.#streams)
      stream.write(`data: ${JSON.stringify({ id: this.id('evt'), type, properties })}\n\n`);
  }

  say(line: string): void {
    for (const stream of this.#streams) stream.write(`data: ${line}\n\n`);
  }

  /** Breaks every stream of events off. */
  breakOff(): void {
    for (const stream of this.#streams) stream.socket?.destroy();
    this.#streams.clear();
  }

  get listeners(): number {
    return this.#streams.size;
  }

  id(kind: string): string {
    this.#ids += 1;
    return `${kind}_${String(this.#ids).padStart(4, '0')}`;
  }

  bodyOf(path: RegExp): Fields {
    return this.asked.find((call) => path.test(call.path))?.body as Fields;
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(req.url ?? '/', 'http://server');
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = text === '' ? null : (JSON.parse(text) as Fields);
    const { method = '', headers } = req;
    this.directory = searchParams.get('directory');
    if (path !== '/global/health') this.asked.push({ method, path, body, authorization: headers.authorization });
    if (path === '/event') return this.#stream(res);
    const { status, body: answer } = this.refusals.get(`${method} ${path}`) ?? this.#route(`${method} ${path}`, body);
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(answer === undefined ? '' : JSON.stringify(answer));
  }

  #stream(res: ServerResponse): void {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#streams.add(res);
    res.on('close', () => this.#streams.delete(res));
    res.write(`data: ${JSON.stringify({ type: 'server.connected', properties: {} })}\n\n`);
    res.write(`data: ${JSON.stringify({ type: 'server.heartbeat', properties: {} })}\n\n`);
  }

  #route(call: string, body: Fields | null): { status: number; body?: unknown } {
    const [, sessionId = '', what = ''] = /^\w+ \/session\/(ses_\w+)\/?(\w*)/.exec(call) ?? [];
    if (call === 'GET /global/health') return { status: 200, body: { healthy: true } };
    if (call === 'GET /command')
      return { status: 200, body: [{ name: 'init', description: 'Set up', template: 'long' }] };
    if (call === 'POST /session') {
      const id = this.id('ses');
      this.messages.set(id, []);
      return { status: 200, body: { id, directory: '/w', title: 'New session - now', version: '1.18.33' } };
    }
    if (call === 'GET /permission' || call === 'GET /question') {
      const requests = [...this.open.values()].filter(({ kind }) => call.endsWith(kind));
      return { status: 200, body: requests.map(({ request }) => request) };
    }
    if (call === 'GET /session/status')
      return { status: 200, body: this.working ? { [this.#only()]: { type: 'busy' } } : {} };
    const [, id, verb = ''] = /^POST \/\w+\/((?:per|que)_\w+)\/(\w+)$/.exec(call) ?? [];
    if (id !== undefined) return this.#reply(id, verb, body ?? {});
    if (!this.messages.has(sessionId))
      return { status: 404, body: { name: 'NotFoundError', data: { message: 'no session' } } };
    return this.#ofSession(call.split(' ')[0] ?? '', { sessionId, what, body });
  }

  #ofSession(
    method: string,
    asked: { sessionId: string; what: string; body: Fields | null },
  ): { status: number; body?: unknown } {
    const { sessionId, what, body } = asked;
    switch (`${method} ${what}`) {
      case 'GET ':
        return { status: 200, body: { id: sessionId, directory: '/w', title: 'Known', version: '1.18.33' } };
      case 'GET message':
        return { status: 200, body: this.messages.get(sessionId) };
      case 'GET children':
        return { status: 200, body: this.children };
      case 'GET todo':
        return { status: 200, body: this.todos };
      case 'POST abort':
        this.#stop.abort();
        return { status: 200, body: true };
      case 'POST prompt_async':
        this.#stop = new AbortController();
        void new ScriptedTurn(this, sessionId, this.#stop.signal).play(body ?? {});
        return { status: 204 };
      default:
        return { status: 404, body: {} };
    }
  }

  #reply(id: string, verb: string, body: Fields): { status: number; body?: unknown } {
    const waiting = this.open.get(id);
    if (waiting === undefined) return { status: 404, body: {} };
    this.open.delete(id);
    waiting.answered({ ...body, verb });
    return { status: 200, body: true };
  }

  #only(): string {
    return [...this.messages.keys()][0] ?? '';
  }
}
