import { TidemarkApiError } from '../../typescript/api-error.ts';
import type { ChatSession } from '../chat-session.ts';
import { shownResult } from './slash-command.ts';
import type { Screen } from './screen.ts';

/**
 * What a server's extensions add to the screen: the status row, panels, and the list of commands.
 *
 * **Contract:** a server that has none is asked once, and nothing is missing on the screen.
 */
export class ServerExtras {
  readonly #session: ChatSession;
  readonly #screen: Screen;
  #info: string | null = null;
  #hasStatus = true;
  #arePanelsShown = false;

  constructor(session: ChatSession, screen: Screen) {
    this.#session = session;
    this.#screen = screen;
  }

  /** `set-status-info`: a transient text of the status row, until it is cleared. */
  setInfo(info: string | null): void {
    this.#info = info;
    if (info !== null && info !== '') this.#screen.line(info, 'dim');
  }

  /** The status row between two turns: nobody waits for it, and where it cannot be had nothing is missing. */
  statusAside(): void {
    void this.showStatus().catch(() => undefined);
  }

  async showStatus(): Promise<void> {
    const items = this.#hasStatus
      ? await this.#asked(async (id) => await this.#session.client.threads.status(id))
      : null;
    this.#hasStatus = items !== null;
    const texts = (items ?? []).toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)).map(({ text }) => text);
    const shown = [...texts, this.#info ?? ''].filter((text) => text !== '');
    if (shown.length > 0) this.#screen.line(shown.join(' · '), 'dim');
  }

  async showPanels(): Promise<void> {
    const panels = await this.#asked(async (id) => await this.#session.client.threads.panels(id));
    if (panels === null) return this.#screen.line('This gateway has no panels.', 'dim');
    this.#arePanelsShown = panels.length > 0;
    if (panels.length === 0) this.#screen.line('There is no panel.', 'dim');
    for (const { name, title, rows } of panels) {
      this.#screen.line(title ?? name, 'bold');
      for (const row of Array.isArray(rows) ? rows : [rows]) this.#screen.line(`  ${shownResult(row) ?? ''}`);
    }
  }

  /** `redraw`: shows the panels again, where they were shown. */
  async redraw(): Promise<void> {
    if (this.#arePanelsShown) await this.showPanels();
  }

  /** The commands that the server's extensions have, in lines. */
  async commandLines(): Promise<readonly string[]> {
    const extensions = (await this.#known(async () => await this.#session.client.extensions())) ?? [];
    const records = extensions.flatMap(({ records: all }) => all).filter(({ kind }) => kind === 'command');
    return records.map(({ name, description }) => `  /${name ?? ''}${description === null ? '' : `  ${description}`}`);
  }

  async #asked<T>(ask: (threadId: string) => Promise<T>): Promise<T | null> {
    const { threadId } = this.#session;
    return threadId === null ? null : await this.#known(async () => await ask(threadId));
  }

  /** Null where the server has no such route. */
  async #known<T>(ask: () => Promise<T>): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof TidemarkApiError && error.status === 404) return null;
      throw error;
    }
  }
}
