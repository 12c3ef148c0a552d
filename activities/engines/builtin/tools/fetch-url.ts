import { Agent, fetch, type Response } from 'undici';
import { z } from 'zod';
import { previewText } from '../../../../contract/frames.ts';
import { lookupAll, vettedAddresses, type Address, type Lookup } from './public-address.ts';
import { readTextBody } from './text-body.ts';
import { executableTool, failed, succeeded, ToolFault, type ExecutableTool, type ToolContext } from './tool.ts';

const REDIRECT_LIMIT = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a public web page. Every hop is vetted, and the connection goes to a vetted address: neither a redirect nor a
 * name that changes its address can lead to this machine or its network.
 */
export function createFetchUrl(lookup: Lookup = lookupAll): ExecutableTool {
  return executableTool({
    name: 'fetch_url',
    label: 'Fetch URL',
    description:
      'Fetches a text page from the public Internet with GET and returns its text. Private addresses are refused.',
    schema: z.strictObject({ url: z.string().min(1).max(4_096).describe('An http:// or https:// URL.') }),
    approval: 'never',
    repeatable: true,
    parallelSafe: true,
    describe: ({ url }) => `Fetch ${url}`,
    async execute({ url }, context) {
      const deadline = AbortSignal.timeout(context.limits.fetchTimeoutMs);
      try {
        return await follow(readUrl(url), { ...context, signal: AbortSignal.any([context.signal, deadline]) }, lookup);
      } catch (error) {
        if (error instanceof ToolFault) throw error;
        if (deadline.aborted) throw new ToolFault('the page did not come in time; try again later or another URL');
        throw new ToolFault(`the page could not be fetched (${transportFault(error)}); check the URL`);
      }
    },
  });
}

async function follow(first: URL, context: ToolContext, lookup: Lookup): ReturnType<ExecutableTool['execute']> {
  let url = first;
  for (let hop = 0; hop <= REDIRECT_LIMIT; hop++) {
    const addresses = await unlessAborted(
      async () => await vettedAddresses(url, context.fetchAllow, lookup),
      context.signal,
    );
    const agent = pinnedTo(addresses);
    try {
      const response = await fetch(url, {
        dispatcher: agent,
        redirect: 'manual',
        signal: context.signal,
        headers: { accept: 'text/*, application/json, application/xml;q=0.9, */*;q=0.1', 'user-agent': 'Tidemark' },
      });
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null) return await report(url, response, context);
      url = readUrl(location, url);
    } finally {
      await agent.destroy();
    }
  }
  throw new ToolFault(`the page redirects more than ${String(REDIRECT_LIMIT)} times; use the final URL`);
}

async function report(url: URL, response: Response, { limits }: ToolContext): ReturnType<ExecutableTool['execute']> {
  const { text, isCut } = await readTextBody(response, limits.fetchBytes);
  const shown =
    previewText(text, limits.fetchChars) + (isCut ? '\n[the page is longer; the rest was not fetched]' : '');
  const details = { url: url.href, status: response.status };
  if (response.ok) return succeeded(shown === '' ? '(the page is empty)' : shown, details);
  return {
    ...failed(`${url.href} answered ${String(response.status)}\n${previewText(shown, 2_000)}`.trimEnd()),
    details,
  };
}

function readUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base))
    throw new ToolFault(`${JSON.stringify(text.slice(0, 200))} is not a URL; use http:// or https://`);
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ToolFault(`${url.protocol} URLs cannot be fetched; use http:// or https://`);
  }
  if (url.username !== '' || url.password !== '')
    throw new ToolFault('a URL with a user name or a password is refused; leave it out');
  url.hash = '';
  return url;
}

/** Connects to the given addresses whatever name is asked for. */
function pinnedTo(addresses: readonly Address[]): Agent {
  return new Agent({
    connect: {
      timeout: 10_000,
      lookup: (_host, options, callback) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family ?? 4);
      },
    },
  });
}

/** Work that cannot be stopped, left behind when the signal aborts. */
async function unlessAborted<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    start().then(resolve, reject);
  });
}

function transportFault(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'no connection';
}
