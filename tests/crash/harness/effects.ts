import { watch, type FSWatcher } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Counts the side effects of tools from outside, whatever the log says of them: the kernel tells each time that a file
 * comes to its place (`write_file` renames it there, once an execution), and a server counts what it is asked for.
 *
 * A tool that ran twice is seen even if the second attempt was fenced and left no trace in the log.
 */
export class Effects {
  readonly #watchers: FSWatcher[] = [];
  readonly #writes = new Map<string, number>();
  readonly #fetches = new Map<string, number>();
  readonly #server = createServer((req, res) => {
    this.#fetches.set(req.url ?? '', (this.#fetches.get(req.url ?? '') ?? 0) + 1);
    res.setHeader('content-type', 'text/plain');
    // long enough for a crash to fall into it
    void sleep(700).then(() => res.end('counted'));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  get host(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Begins to count the files of a thread; before anything may be written there. */
  async watchThread(home: string, threadId: string): Promise<void> {
    const folder = join(home, 'workspaces', threadId);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    this.#watchers.push(
      watch(folder, (type, name) => {
        if (type === 'rename' && name !== null) this.#writes.set(name, (this.#writes.get(name) ?? 0) + 1);
      }),
    );
  }

  writes(name: string): number {
    return this.#writes.get(name) ?? 0;
  }

  fetches(path: string): number {
    return this.#fetches.get(path) ?? 0;
  }

  async stop(): Promise<void> {
    for (const watcher of this.#watchers) watcher.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
