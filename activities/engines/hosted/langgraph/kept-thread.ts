import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WholeFile } from '../whole-file.ts';
import type { StateGraph } from './graph-shape.ts';

/** LangGraph's checkpointer in memory, by what is in it. */
export interface MemorySaver {
  /** By thread, namespace and id. */
  storage: Record<string, Record<string, Record<string, unknown>>>;
  /** By the JSON of the three. */
  writes: Record<string, unknown>;
  put(...args: readonly unknown[]): Promise<unknown>;
  putWrites(...args: readonly unknown[]): Promise<void>;
}

interface SavedThread {
  readonly version: 1;
  readonly checkpoints: Record<string, Record<string, unknown>>;
  readonly writes: Record<string, unknown>;
}

/** A namespace of one task's own has the task's id in it. */
const OF_A_TASK = ':';

/**
 * A thread of a graph that has no checkpointer of its own, or one in memory, which would end with its process: LangGraph's
 * `MemorySaver`, whose content is a file.
 *
 * **Contract:** a checkpoint is in the file before the graph goes on.
 */
export class KeptThread {
  readonly saver: MemorySaver;
  readonly #threadId: string;
  readonly #file: WholeFile;

  private constructor(folder: string, threadId: string, saver: MemorySaver) {
    this.#threadId = threadId;
    this.#file = new WholeFile(join(folder, `${threadId}.json`));
    this.saver = saver;
  }

  /** Brings back what was kept of it, and keeps it from now on. */
  static async take(folder: string, threadId: string, saver: MemorySaver): Promise<KeptThread> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const thread = new KeptThread(folder, threadId, saver);
    await thread.#restore();
    const put = saver.put.bind(saver);
    const putWrites = saver.putWrites.bind(saver);
    saver.put = async (...args) => {
      const config = await put(...args);
      await thread.#save();
      return config;
    };
    saver.putWrites = async (...args) => {
      await putWrites(...args);
      await thread.#save();
    };
    return thread;
  }

  /** Forgets what led to its state: of a turn that is over nobody goes back to it. */
  async prune(graph: StateGraph): Promise<void> {
    const namespaces = this.saver.storage[this.#threadId] ?? {};
    // a channel that keeps its changes alone is read from all of them
    const hasDeltas = Object.values(graph.channels ?? {}).some((channel) => channel.lc_graph_name === 'DeltaChannel');
    for (const [namespace, checkpoints] of Object.entries(namespaces)) {
      if (namespace.includes(OF_A_TASK)) delete namespaces[namespace];
      else if (!hasDeltas) for (const id of Object.keys(checkpoints).toSorted().slice(0, -1)) delete checkpoints[id];
    }
    for (const key of Object.keys(this.saver.writes)) {
      const [, namespace = '', id = ''] = JSON.parse(key) as string[];
      if (namespaces[namespace]?.[id] === undefined) delete this.saver.writes[key];
    }
    await this.#save();
  }

  async #restore(): Promise<void> {
    const text = await this.#file.read();
    if (text === null) return;
    const saved = JSON.parse(text, textAsBytes) as SavedThread;
    if (saved.version !== 1) return;
    this.saver.storage[this.#threadId] = saved.checkpoints;
    Object.assign(this.saver.writes, saved.writes);
  }

  async #save(): Promise<void> {
    await this.#file.write(() => {
      const { storage, writes } = this.saver;
      const thread: SavedThread = { version: 1, checkpoints: storage[this.#threadId] ?? {}, writes };
      return JSON.stringify(thread, bytesAsText);
    });
  }
}

const BYTES = '$bytes';

function bytesAsText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { [BYTES]: Buffer.from(value).toString('base64') } : value;
}

function textAsBytes(_: string, value: unknown): unknown {
  const text = (value as Record<string, unknown> | null)?.[BYTES];
  return typeof text === 'string' ? new Uint8Array(Buffer.from(text, 'base64')) : value;
}
