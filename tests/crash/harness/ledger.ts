/** What a storm notes while it rages: what it did, and what should not have been. */
export class Ledger {
  readonly #startedAt = performance.now();
  readonly lines: string[] = [];
  readonly faults: string[] = [];
  readonly counts = new Map<string, number>();
  longestReconnectMs = 0;
  longestSilenceMs = 0;

  note(line: string): void {
    this.lines.push(`${((performance.now() - this.#startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  }

  /** Something that breaks a promise: the storm fails with it. */
  fault(line: string): void {
    this.note(`FAULT ${line}`);
    this.faults.push(line);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  counted(): string {
    const entries = [...this.counts].toSorted(([a], [b]) => a.localeCompare(b));
    return entries.map(([what, times]) => `${what} ${String(times)}`).join(', ');
  }
}
