import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TidemarkClient } from '../../clients/typescript/client.ts';
import type { RunFold } from '../../clients/typescript/run-fold.ts';
import { startStack, type Stack } from '../../infra/testing/stack.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
const ROOT = join(import.meta.dirname, '../..');
const PAGE = `<script type="importmap">{"imports":{"zod":"/source/node_modules/zod/index.js"}}</script>
<script type="module">
  import { TidemarkClient } from '/source/clients/typescript/client.ts';
  import { RunFold } from '/source/clients/typescript/run-fold.ts';
  globalThis.tidemark = { TidemarkClient, RunFold };
</script>`;

/** What the page has loaded. */
interface Loaded {
  readonly tidemark: { readonly TidemarkClient: typeof TidemarkClient; readonly RunFold: typeof RunFold };
  readonly location: { readonly origin: string };
}

describe.runIf(CHROMIUM !== undefined || process.env['CI'] !== undefined)('the TypeScript client in a browser', () => {
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
    // the client's own files, without their types, under the gateway's origin
    await page.route(`${stack.url}/source/**`, async (route) => {
      const path = new URL(route.request().url()).pathname.replace('/source/', '');
      if (path === 'page.html') return await route.fulfill({ contentType: 'text/html', body: PAGE });
      const text = await readFile(join(ROOT, path), 'utf8');
      const body = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
      await route.fulfill({ contentType: 'text/javascript', body });
    });
    await page.goto(`${stack.url}/source/page.html`);
    await page.waitForFunction(() => 'tidemark' in globalThis);
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await rm(profile, { recursive: true, force: true });
  });

  it('starts a run, answers its approval, follows it to the end, and proves it', async () => {
    const seen = await page.evaluate(async () => {
      const { tidemark, location } = globalThis as unknown as Loaded;
      const client = new tidemark.TidemarkClient({ baseUrl: location.origin });
      const run = await client.runs.create({ input: 'from a page', model: 'scripted/approval' });
      const fold = new tidemark.RunFold();
      const seqs: number[] = [];
      for await (const item of client.threads.follow(run.thread_id)) {
        if ('deliverySeq' in item) seqs.push(item.deliverySeq);
        if (item.type === 'event') fold.add(item.event);
        if (item.type === 'event' && item.event.kind === 'approval.requested') {
          await client.interrupts.resolve(item.event.approvalId, { decision: 'approve' });
        }
        if (item.type === 'complete') break;
      }
      const { holds, why, computed } = await client.runs.verify(run.run_id);
      const refused = await client.runs.get('run_none').catch((error: unknown) => error);
      return { seqs, events: fold.events().length, holds, why, computed, code: (refused as { code?: unknown }).code };
    });
    expect(seen).toMatchObject({ holds: true, why: 'proven', code: 'run_not_found' });
    expect(seen.computed.events).toBe(seen.events);
    expect(seen.seqs).toEqual(Array.from(seen.seqs, (_, i) => i + 1));
  });
});
