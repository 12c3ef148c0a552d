import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../infra/testing/stack.ts';
import { Rest } from '../fixtures/rest.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

if (CHROMIUM === undefined && process.env['CI'] === undefined) {
  process.stdout.write('skipped: tests/browser: no Chromium here; install the package "chromium"\n');
}

describe.runIf(CHROMIUM !== undefined || process.env['CI'] !== undefined)('a browser', () => {
  let stack: Stack;
  let browser: BrowserContext;
  let profile: string;
  let page: Page;

  beforeAll(async () => {
    stack = await startStack();
    profile = await mkdtemp(join(tmpdir(), 'tidemark-chromium-'));
    browser = await chromium.launchPersistentContext(profile, {
      executablePath: CHROMIUM ?? 'chromium',
      headless: true,
      args: FLAGS,
    });
    page = await browser.newPage();
    // a page of the gateway's own origin
    await page.goto(`${stack.url}/livez`);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await rm(profile, { recursive: true, force: true });
  });

  it.each([
    ['custom', ['content', 'done']],
    ['lifecycle', ['text.delta', 'run.finished']],
    ['canonical', ['canonical', 'canonical-complete']],
  ])('reads a live run as %s by its own EventSource, to the end', async (encoding, [part, end]) => {
    const rest = new Rest(stack.url);
    const run = await rest.startRun('a browser reads this', { model: 'scripted/text' });
    const seen = await page.evaluate(
      async ({ path, names }) =>
        await new Promise<string[]>((resolve, reject) => {
          const types: string[] = [];
          const source = new EventSource(path);
          for (const name of names) {
            source.addEventListener(name, (event) => {
              types.push(event.type);
              if (name !== names.at(-1)) return;
              source.close();
              resolve(types);
            });
          }
          setTimeout(() => reject(new Error(`seen: ${types.join(' ')}`)), 20_000);
        }),
      { path: `/v1/runs/${run.run_id}/events?encoding=${encoding}`, names: [part ?? '', end ?? ''] },
    );
    expect(seen.at(-1)).toBe(end);
    expect(seen.filter((type) => type === part).length).toBeGreaterThan(2);
  });

  it('loses its stream and comes back by itself without losing or repeating an event', async () => {
    const rest = new Rest(stack.url);
    const run = await rest.startRun('a browser comes back', { model: 'scripted/slow' });
    const path = `/v1/threads/${run.thread_id}/events`;
    const following = page.evaluate(
      async (url) =>
        await new Promise<number[]>((resolve) => {
          const seqs: number[] = [];
          new EventSource(url).addEventListener('canonical', (event) => {
            seqs.push(Number((event as MessageEvent).lastEventId));
            if (seqs.length === 40) resolve(seqs);
          });
        }),
      path,
    );
    await rest.until('it streams', async () => ((await rest.deliveries(run.thread_id)).length > 12 ? true : null));
    const { port } = new URL(stack.url);
    await stack.gateways[0]?.kill('SIGKILL');
    await stack.startGateway(Number(port));
    const seqs = await following;
    expect(seqs).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    await rest.send('POST', `/v1/runs/${run.run_id}/cancel`);
    await rest.settled(run.run_id);
  });
});
