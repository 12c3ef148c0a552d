import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnServers } from '../../../infra/testing/own-servers.ts';
import type { Stack, StackProcess } from '../../../infra/testing/stack.ts';
import type { Ledger } from './ledger.ts';
import type { PlannedFault } from './plan.ts';
import type { Random } from './random.ts';

type Role = 'worker' | 'gateway';

/** Two workers and two gateways, each started again whenever it is gone, as a process manager does; and what hurts them. */
export class Fleet {
  readonly #stack: Stack;
  readonly #servers: OwnServers;
  readonly #ledger: Ledger;
  readonly #slots: Record<Role, (StackProcess | null)[]> = { worker: [null, null], gateway: [null, null] };
  readonly #meant = new Set<number>();
  readonly #lives: Promise<void>[] = [];
  readonly #restartAfterMs = new Map<number, number>();
  #stopping = false;

  constructor(stack: Stack, servers: OwnServers, ledger: Ledger) {
    this.#stack = stack;
    this.#servers = servers;
    this.#ledger = ledger;
  }

  async start(): Promise<void> {
    const first = (['worker', 'gateway'] as const).flatMap((role) =>
      [0, 1].map(async (slot) => await this.#spawn(role, slot)),
    );
    await Promise.all(first);
    for (const role of ['worker', 'gateway'] as const)
      for (const slot of [0, 1]) this.#lives.push(this.#keep(role, slot));
  }

  /** A gateway that is up as far as one can know; null while there is none. */
  gatewayUrl(random: Random): string | null {
    const alive = this.#slots.gateway.flatMap((gateway) => gateway?.url ?? []);
    return alive.length === 0 ? null : random.pick(alive);
  }

  get pids(): number[] {
    return Object.values(this.#slots).flatMap((slots) => slots.flatMap((process) => process?.pid ?? []));
  }

  /** Does one fault to its end: until what it hit is on its way back. */
  async strike({ kind, target, slot, forMs }: PlannedFault): Promise<void> {
    const what = `${kind} ${target}${target === 'worker' || target === 'gateway' ? ` ${String(slot)}` : ''}`;
    this.#ledger.note(`${what}${forMs > 0 ? ` for ${String(forMs)} ms` : ''}`);
    if (target === 'postgres') {
      this.#ledger.count('kill postgres');
      await this.#servers.killPostgres();
      await sleep(forMs);
      return await this.#servers.startPostgres();
    }
    if (target === 'temporal') {
      this.#ledger.count('kill temporal');
      await this.#servers.killTemporal();
      await sleep(forMs);
      return await this.#servers.startTemporal();
    }
    // one that is down already is spared, and the other one hit
    const process = this.#slots[target][slot] ?? this.#slots[target][1 - slot];
    if (process === null || process === undefined) return this.#ledger.note(`${what}: both are down already`);
    this.#ledger.count(`${kind} ${target}`);
    if (kind === 'pause') {
      await process.kill('SIGSTOP');
      await sleep(forMs);
      return await process.kill('SIGCONT');
    }
    this.#meant.add(process.pid);
    this.#restartAfterMs.set(process.pid, forMs);
    if (kind === 'kill') return await process.kill('SIGKILL');
    const end = await process.end();
    // a stop that was told to be quick is still one in good order
    if (end !== 'exit code 0' && end !== 'SIGKILL') this.#ledger.note(`${what} ended with ${end}`);
    this.#ledger.count(`drain: ${end}`);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    for (const slots of Object.values(this.#slots)) for (const process of slots) await process?.kill('SIGKILL');
    await Promise.all(this.#lives);
  }

  async #keep(role: Role, slot: number): Promise<void> {
    while (!this.#stopping) {
      const process = this.#slots[role][slot];
      if (process === null || process === undefined) throw new Error(`${role} ${String(slot)} was never started`);
      const end = await process.exited;
      this.#slots[role][slot] = null;
      if (this.#stopping) return;
      if (!this.#meant.delete(process.pid)) {
        this.#ledger.note(`${role} ${String(slot)} ended by itself: ${end}`);
        this.#ledger.count(`${role} ended by itself`);
      }
      await sleep(this.#restartAfterMs.get(process.pid) ?? 500);
      await this.#spawn(role, slot);
    }
  }

  /** Starts one, again until it is up: its database or Temporal may be away. */
  async #spawn(role: Role, slot: number): Promise<void> {
    for (let tries = 1; !this.#stopping; tries++) {
      try {
        this.#slots[role][slot] =
          role === 'worker' ? await this.#stack.startWorker() : await this.#stack.startGateway();
        return;
      } catch (error) {
        this.#ledger.note(`${role} ${String(slot)} did not start (try ${String(tries)}): ${String(error)}`);
        if (tries > 30) throw error;
        await sleep(1_000);
      }
    }
  }
}
