import type { BusEventName } from '../../../contract/extensions/bus-event.ts';
import type { Handler } from '../../../contract/extensions/event-bus.ts';
import type { ChatSession } from '../chat-session.ts';
import type { PresenterContext } from '../presenter.ts';
import { failureOf } from '../report.ts';
import { ConversationView } from './conversation-view.ts';
import { PersonAsked } from './person-asked.ts';
import { Screen } from './screen.ts';
import { ServerExtras } from './server-extras.ts';
import { LOCAL_COMMANDS, readSlashCommand, shownResult, type SlashCommand } from './slash-command.ts';

const PROMPT = '> ';

/** Lines that were read and not taken, and whether there will be more. */
export interface UnreadInput {
  readonly lines: readonly string[];
  readonly hasEnded: boolean;
}

/** A conversation at a terminal, from its first line to its last. */
export class TerminalConversation {
  readonly #context: PresenterContext;
  readonly #session: ChatSession;
  readonly #screen: Screen;
  readonly #view: ConversationView;
  readonly #asked: PersonAsked;
  readonly #extras: ServerExtras;
  readonly #leaving = new AbortController();
  readonly #stops: (() => void)[] = [];
  /** Lines that were read and not taken yet. */
  readonly #lines: string[];
  #hasInputEnded: boolean;
  #isCaughtUp: boolean;
  #isCancelling = false;
  #isLeavingNext = false;
  /** One thing after the other: lines, and what follows from deliveries. */
  #work: Promise<void> = Promise.resolve();

  constructor(context: PresenterContext, unread: UnreadInput) {
    const { session, streams, isColourless } = context;
    this.#lines = [...unread.lines];
    this.#hasInputEnded = unread.hasEnded;
    this.#context = context;
    this.#session = session;
    this.#isCaughtUp = session.threadId === null;
    this.#screen = new Screen(streams, {
      isColourless,
      onLine: (line) => {
        this.#lines.push(line);
        this.#then(async () => await this.#takeLines());
      },
      onCtrlC: () => this.#onCtrlC(),
      onEnd: () => {
        this.#hasInputEnded = true;
        this.#then(async () => await this.#takeLines());
      },
    });
    this.#view = new ConversationView(this.#screen);
    this.#asked = new PersonAsked(session, this.#screen);
    this.#extras = new ServerExtras(session, this.#screen);
  }

  async run(): Promise<void> {
    const { prompt, signal } = this.#context;
    this.#listen();
    const thread = this.#session.threadId;
    this.#screen.line(thread === null ? 'A new conversation. /help says what can be done.' : `Thread ${thread}`, 'dim');
    if (prompt !== null) this.#then(async () => await this.#say(prompt));
    this.#then(async () => await this.#takeLines());
    const ending = AbortSignal.any([signal, this.#leaving.signal]);
    const items = this.#session.items({
      signal: ending,
      onCursorLost: 'oldest',
      onReconnect: ({ error }) => {
        if (error !== null) this.#screen.line(`— the connection is lost (${error.message}); it is made anew`, 'dim');
      },
    });
    for await (const item of items) {
      this.#view.show(item);
      this.#isCaughtUp ||= item.type === 'caught-up';
      const isNews = item.type === 'caught-up' || (item.type === 'event' && TURNS.has(item.event.kind));
      if (isNews && this.#isCaughtUp) this.#then(async () => await this.#turned());
      if (item.type === 'gone') this.#session.reset();
    }
    await this.#work;
    this.#sayGoodbye();
  }

  close(): UnreadInput {
    for (const stop of this.#stops) stop();
    this.#leaving.abort();
    this.#screen.close();
    return { lines: this.#lines, hasEnded: this.#hasInputEnded };
  }

  #listen(): void {
    const { bus, onCtrlC } = this.#context;
    const on = <Name extends BusEventName>(type: Name, handler: Handler<Name>) =>
      this.#stops.push(bus.on(type, handler));
    this.#stops.push(onCtrlC(() => this.#onCtrlC()));
    on('info', ({ info, text }) => this.#screen.line(info ?? text ?? '', 'dim'));
    on('error', ({ error }) => this.#screen.line(error, 'red'));
    on('set-status-info', ({ info }) => this.#extras.setInfo(info ?? null));
    on('redraw', () => this.#then(async () => await this.#extras.redraw()));
    on('dismiss', () => this.#asked.leave());
    on('reset-conversation', () => {
      this.#session.reset();
      this.#asked.leave();
      this.#isCaughtUp = true;
      this.#screen.line('— a new conversation', 'dim');
    });
  }

  /** What follows when a run began, asked something, was answered or ended. */
  async #turned(): Promise<void> {
    await this.#asked.turn();
    if (!this.#session.isBusy) {
      this.#isCancelling = false;
      this.#extras.statusAside();
    }
    await this.#takeLines();
  }

  async #takeLines(): Promise<void> {
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      this.#isLeavingNext = false;
      await this.#take(line).catch((error: unknown) => this.#sayFailure(error));
    }
    this.#invite();
    if (this.#hasInputEnded && this.#lines.length === 0) this.#endInput();
  }

  /** On pipes all lines are there at once, and each is meant for what comes after the one before. */
  #nextLine(): string | undefined {
    if (this.#context.signal.aborted || this.#leaving.signal.aborted) return undefined;
    const isTaken = this.#screen.isTerminal || this.#asked.isAsking || (this.#isCaughtUp && !this.#session.isBusy);
    return isTaken ? this.#lines.shift() : undefined;
  }

  async #take(line: string): Promise<void> {
    if (this.#asked.isAsking) return await this.#asked.take(line);
    if (line.trim() === '') return;
    const command = readSlashCommand(line);
    if (command !== null) return await this.#command(command);
    if (!this.#session.isBusy) return await this.#say(line);
    const isFollowUp = line.startsWith('>');
    await this.#say(isFollowUp ? line.slice(1).trim() : line, isFollowUp ? 'follow_up' : 'steer');
  }

  async #say(text: string, multitask?: 'steer' | 'follow_up'): Promise<void> {
    this.#view.typed(text);
    const { queue, instead } = await this.#session.submit(text, multitask);
    if (instead !== null) this.#screen.line(`— this gateway has no ${instead}; it waits for its turn instead`, 'dim');
    if (queue !== null) this.#screen.line(queue === 'steering' ? '— for its next step' : `— queued: ${queue}`, 'dim');
  }

  async #command(command: SlashCommand): Promise<void> {
    if (command.kind === 'server') {
      const { result, events } = await this.#session.command(command.name, command.args);
      return this.#outcome(result, events);
    }
    switch (command.name) {
      case 'help':
        return await this.#help();
      case 'new':
        return this.#context.bus.emit({ type: 'reset-conversation' });
      case 'cancel':
        return await this.#cancel();
      case 'ask':
        return await this.#asked.again();
      case 'panels':
        return await this.#extras.showPanels();
      case 'status':
        return await this.#extras.showStatus();
      case 'control': {
        const { result, events } = await this.#session.control(command.args);
        return this.#outcome(result, events);
      }
      case 'quit':
        return this.#leaving.abort();
    }
  }

  #outcome(result: unknown, events: readonly { readonly type: string }[]): void {
    const shown = shownResult(result);
    if (shown !== null) this.#screen.line(shown);
    for (const event of events) this.#context.bus.emit(event);
  }

  async #help(): Promise<void> {
    this.#screen.line(
      'Say something. While a run is at work, a line steers it, and a line that starts with > follows it up.',
    );
    for (const [name, what] of Object.entries(LOCAL_COMMANDS)) this.#screen.line(`  /${name}  ${what}`);
    for (const line of await this.#extras.commandLines()) this.#screen.line(line);
    this.#screen.line('Ctrl-C stops the run, and once more leaves.');
  }

  async #cancel(): Promise<void> {
    this.#isCancelling = await this.#session.cancel();
    this.#screen.line(this.#isCancelling ? '— cancelling…' : '— nothing is at work', 'dim');
  }

  #onCtrlC(): void {
    if (this.#isCancelling || this.#isLeavingNext) return this.#leaving.abort();
    if (this.#session.isBusy) {
      this.#isCancelling = true;
      this.#asked.leave();
      this.#then(async () => await this.#cancel());
      return;
    }
    this.#isLeavingNext = true;
    this.#screen.line('— Ctrl-C once more leaves', 'dim');
    this.#then(() => this.#invite());
  }

  /** Invites a line where one is waited for; elsewhere a key does. */
  #invite(): void {
    if (this.#leaving.signal.aborted) return;
    if (this.#asked.isAsking) return this.#asked.invite();
    if (this.#session.isBusy || !this.#isCaughtUp) this.#screen.invite(PROMPT);
    else this.#screen.ask(PROMPT);
  }

  #endInput(): void {
    if (this.#asked.isAsking && !this.#screen.isTerminal) {
      this.#screen.line('— this was asked and the input has ended', 'red');
      this.#context.exitWith(1);
      return this.#leaving.abort();
    }
    if (this.#screen.isTerminal || (this.#isCaughtUp && !this.#session.isBusy)) this.#leaving.abort();
  }

  #sayGoodbye(): void {
    const { threadId, isBusy } = this.#session;
    if (threadId === null || this.#context.signal.aborted) return;
    this.#screen.line(`${isBusy ? 'The run goes on. ' : ''}Come back: tidemark chat --thread ${threadId}`, 'dim');
  }

  #then(work: () => Promise<void> | void): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#sayFailure(error);
      this.#invite();
    });
  }

  #sayFailure(error: unknown): void {
    const { message, remedy } = failureOf(error);
    this.#screen.line(`${message}\n${remedy}`, 'red');
  }
}

/** Events after which a line may be taken, or something is asked. */
const TURNS: ReadonlySet<string> = new Set([
  'turn.started',
  'turn.completed',
  'approval.requested',
  'approval.resolved',
  'question.requested',
  'question.resolved',
]);
