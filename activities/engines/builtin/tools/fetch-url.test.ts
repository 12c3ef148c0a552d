import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../../../../contract/agent-messages.ts';
import { createFetchUrl } from './fetch-url.ts';
import type { Address, Lookup } from './public-address.ts';
import type { ToolLimits } from './tool.ts';
import { toolContext } from './tool-testkit.ts';

let host: string;
let hits: string[] = [];
const routes: Record<string, RequestListener> = {};
const server = createServer((request, response) => {
  hits.push(request.url ?? '');
  const route = routes[request.url ?? ''];
  if (route === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  else route(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Given {
  readonly allow?: readonly string[];
  readonly lookup?: Lookup;
  readonly limits?: Partial<ToolLimits>;
  readonly signal?: AbortSignal;
}

async function get(url: string, given: Given = {}) {
  hits = [];
  const result = await createFetchUrl(given.lookup).execute(
    { url },
    toolContext({
      fetchAllow: given.allow ?? [host],
      limits: given.limits ?? {},
      ...(given.signal === undefined ? {} : { signal: given.signal }),
    }),
  );
  return { text: textOf(result.content), isError: result.isError };
}

const resolvingTo =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 }));

/** A resolver that never answers. */
const never: Lookup = async () => await new Promise(() => undefined);

const PRIVATE_HOSTS = `
  127.0.0.1 127.1 127.0.0.2 0.0.0.0 0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1
  100.100.100.200 192.0.0.192 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16 2130706433
  017700000001 0177.0.0.1 0x7f000001 0x7f.1 127.0.0.1. ①②⑦.0.0.1 localhost LOCALHOST localhost. [::1]
  [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [fe80::1] [fc00::1] [fd00:ec2::254] [fec0::1]
  [64:ff9b::7f00:1] [2002:7f00:1::] [ff02::1] [2001::1] [2001:db8::1] [100::1]
`
  .trim()
  .split(/\s+/);

describe('an address that is not public', () => {
  it.each(PRIVATE_HOSTS)('%s is refused', async (name) => {
    const { port } = server.address() as AddressInfo;
    const result = await get(`http://${name}:${String(port)}/`, { allow: [] });
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/may not be fetched; use a public address$/);
    expect(hits).toEqual([]);
  });

  it.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['169.254.169.254'],
    ['93.184.216.34', '127.0.0.1'],
  ])('behind a name (%s) is refused', async (...addresses) => {
    const result = await get('http://innocent.example/', { lookup: resolvingTo(...addresses) });
    expect(result).toMatchObject({ isError: true });
    expect(result.text).toMatch(/innocent\.example is not on the public Internet/);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://169.254.169.254/latest',
    '//10.0.0.1/',
  ])('behind a redirect (%s) is refused', async (location) => {
    routes['/away'] = (_request, response) => void response.writeHead(302, { location }).end();
    const result = await get(`http://${host}/away`);
    expect(result).toMatchObject({ isError: true });
    expect(result.text).toMatch(/not on the public Internet/);
    expect(hits).toEqual(['/away']);
  });

  it('may be allowed by host and port, and only that port', async () => {
    routes['/'] = (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('inside');
    const { port } = server.address() as AddressInfo;
    const name = `intranet.example:${String(port)}`;
    const lookup = resolvingTo('127.0.0.1');
    expect(await get(`http://${name}/`, { allow: [name], lookup })).toEqual({ text: 'inside', isError: false });
    expect(await get(`http://intranet.example:1/`, { allow: [name], lookup })).toMatchObject({ isError: true });
    expect(await get(`http://localhost:${String(port)}/`, { allow: [name] })).toMatchObject({ isError: true });
  });

  it('cannot be reached by a name that changes its address after it was vetted', async () => {
    let asked = 0;
    const lookup: Lookup = async () => [{ address: ++asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
    const { port } = server.address() as AddressInfo;
    const name = `rebind.example:${String(port)}`;
    // Allowed, so that the first answer is connected to; a second look-up would reach this server.
    const result = await get(`http://${name}/`, { allow: [name], lookup, limits: { fetchTimeoutMs: 300 } });
    expect(result).toMatchObject({ isError: true });
    expect([asked, hits]).toEqual([1, []]);
  });
});

describe('fetch_url', () => {
  it.each([
    ['ftp://example.com/', /ftp: URLs cannot be fetched; use http/],
    ['file:///etc/passwd', /file: URLs cannot be fetched/],
    ['javascript:alert(1)', /cannot be fetched/],
    ['no url', /is not a URL; use http/],
    ['http://user:pw@example.com/', /user name or a password is refused/],
    ['http://tidemark.invalid/', /could not be found; check the URL/],
  ])('%s is refused with what to do', async (url, reason) => {
    const result = await get(url);
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(reason);
  });

  it('follows up to five redirects', async () => {
    for (let n = 0; n < 6; n++) {
      routes[`/hop${String(n)}`] = (_request, response) =>
        void response.writeHead(307, { location: `hop${String(n + 1)}` }).end('elsewhere');
    }
    routes['/hop6'] = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).end('here');
    expect(await get(`http://${host}/hop1`)).toEqual({ text: 'here', isError: false });
    expect((await get(`http://${host}/hop0`)).text).toMatch(/redirects more than 5 times/);
  });

  it('decodes by the charset, decompresses, and sends no cookies', async () => {
    routes['/latin1'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=ISO-8859-1', 'set-cookie': 'a=b' });
      response.end(Buffer.from([0x61, 0xf1]));
    };
    routes['/gzip'] = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/problem+json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ cookie: request.headers.cookie ?? null })));
    };
    expect((await get(`http://${host}/latin1`)).text).toBe('añ');
    expect((await get(`http://${host}/gzip`)).text).toBe('{"cookie":null}');
  });

  it('takes at most so many bytes, counted after decompression, and shows at most so many characters', async () => {
    routes['/bomb'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(20_000_000, 'a')));
    };
    const result = await get(`http://${host}/bomb`, { limits: { fetchChars: 50 } });
    expect(result.text).toBe(
      `${'a'.repeat(50)}...[${String(1024 * 1024 - 50)} chars]\n[the page is longer; the rest was not fetched]`,
    );
  });

  it('refuses what is not text, by type or by bytes', async () => {
    routes['/png'] = (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    routes['/liar'] = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/plain' }).end('a\0b');
    expect((await get(`http://${host}/png`)).text).toMatch(/is image\/png, not text/);
    expect((await get(`http://${host}/liar`)).text).toMatch(/is not text, though/);
  });

  it('tells the model what a server refused or broke off', async () => {
    routes['/cut'] = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      response.write('part');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await get(`http://${host}/none`)).toEqual({
      text: `error: http://${host}/none answered 404\nnothing here`,
      isError: true,
    });
    expect((await get(`http://${host}/cut`)).text).toMatch(/could not be fetched \(UND_ERR_SOCKET\); check the URL/);
  });

  it('gives up after its time, and throws only when it is stopped', async () => {
    routes['/slow'] = (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('a');
    expect((await get(`http://${host}/slow`, { limits: { fetchTimeoutMs: 100 } })).text).toMatch(
      /did not come in time/,
    );
    await expect(get(`http://${host}/slow`, { signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout|aborted/i);
    await expect(get('http://a.example/', { lookup: never, signal: AbortSignal.timeout(50) })).rejects.toThrow(
      /timeout/i,
    );
  });
});
