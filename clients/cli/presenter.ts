import type { EventBus } from '../../contract/extensions/event-bus.ts';
import type { PresenterRecord } from '../../contract/extensions/register-kinds.ts';
import type { ChatSession } from './chat-session.ts';
import type { Streams } from './streams.ts';

/** What a presenter is run with. */
export interface PresenterContext {
  readonly session: ChatSession;
  /** The presenter's events: `redraw`, `dismiss`, `set-status-info`, `info`, `reset-conversation`, … */
  readonly bus: EventBus;
  readonly streams: Streams;
  /** What the command line said; null when it said nothing, and when the presenter is run again (`reinit-presenter`). */
  readonly prompt: string | null;
  /** `--approve` */
  readonly approvesAll: boolean;
  readonly isColourless: boolean;
  /** Aborts when the presenter is to come back: the program ends, or it is to be run again. */
  readonly signal: AbortSignal;
  /** Takes over what Ctrl-C does; the returned function gives it back. */
  readonly onCtrlC: (handler: () => void) => () => void;
  /** The program's exit code; 0 unless it is said. */
  readonly exitWith: (code: number) => void;
}

/** A presenter of the command line: the input and output loop of a conversation. Exactly one is active. */
export type Presenter = PresenterRecord<PresenterContext>;
