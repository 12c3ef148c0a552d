import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { environmentKey } from './environment-key.ts';
import { fileKey } from './file-key.ts';
import { oauthToken } from './oauth-token.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-auth-'));
  return async () => await rm(folder, { recursive: true });
});

describe('a key in the environment', () => {
  it('is read at each call, and a blank one is none', async () => {
    const environment: Record<string, string | undefined> = { KEY: ' one ' };
    const auth = environmentKey({ variable: 'KEY', environment });
    expect(await auth.apiKey()).toBe('one');
    environment['KEY'] = 'two';
    expect(await auth.apiKey()).toBe('two');
    environment['KEY'] = ' ';
    expect(await auth.apiKey()).toBeNull();
    expect(await environmentKey({ variable: 'KEY', environment, otherwise: 'none' }).apiKey()).toBe('none');
  });
});

describe('a key in a file', () => {
  it('is used from the next call on when the file changes, in place or by another put over it', async () => {
    const path = join(folder, 'key');
    const auth = fileKey(path);
    expect(await auth.apiKey()).toBeNull();
    await writeFile(path, 'one\n');
    expect(await auth.apiKey()).toBe('one');
    await writeFile(path, 'second\n');
    expect(await auth.apiKey()).toBe('second');
    await writeFile(`${path}.new`, 'third!\n');
    await rename(`${path}.new`, path);
    expect(await auth.apiKey()).toBe('third!');
    await rm(path);
    expect(await auth.apiKey()).toBeNull();
  });

  it('that cannot be read is provider_auth, with its name and no more', async () => {
    await expect(fileKey(folder).apiKey()).rejects.toMatchObject({
      code: 'provider_auth',
      message: `the key file ${folder} cannot be read (EISDIR)`,
    });
  });
});

describe('an OAuth token', () => {
  let tokenUrl: string;
  let answer: (response: ServerResponse, body: URLSearchParams) => void | Promise<void>;
  const asked: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (bytes: Buffer) => chunks.push(bytes));
    request.on('end', () => {
      const body = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
      asked.push(body);
      void answer(response, body);
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    tokenUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/token`;
  });
  afterAll(() => void server.close());
  beforeEach(() => {
    asked.length = 0;
    answer = grant({ access_token: 'fresh', refresh_token: 'refresh-2', expires_in: 3_600 });
  });

  const grant = (body: object) => (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  async function login(document: object): Promise<{ path: string; auth: ReturnType<typeof oauthToken> }> {
    const path = join(folder, 'auth.json');
    await writeFile(path, JSON.stringify(document));
    return { path, auth: oauthToken({ tokenFile: path, tokenUrl, clientId: 'client-1' }) };
  }
  const tokensAt = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));

  it('is used while it is good, and a login made elsewhere at once', async () => {
    const { path, auth } = await login({ access_token: 'first', refresh_token: 'r', expires_at: inSeconds(600) });
    expect(await auth.apiKey()).toBe('first');
    await writeFile(path, JSON.stringify({ access_token: 'other', refresh_token: 'r', expires_at: inSeconds(600) }));
    expect(await auth.apiKey()).toBe('other');
    expect(asked).toEqual([]);
  });

  it('that is spent is renewed once, however many calls ask, and the new pair is in the file', async () => {
    const { path, auth } = await login({
      access_token: 'old',
      refresh_token: 'refresh-1',
      expires_at: inSeconds(10),
      note: 7,
    });
    expect(await Promise.all(Array.from({ length: 20 }, async () => await auth.apiKey()))).toEqual(
      Array.from({ length: 20 }, () => 'fresh'),
    );
    expect(asked.map((body) => Object.fromEntries(body))).toEqual([
      { grant_type: 'refresh_token', client_id: 'client-1', refresh_token: 'refresh-1' },
    ]);
    expect(await tokensAt(path)).toMatchObject({ access_token: 'fresh', refresh_token: 'refresh-2', note: 7 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await auth.apiKey()).toBe('fresh');
    expect(asked).toHaveLength(1);
  });

  it('says its own end in its claims, in the file of the Codex CLI', async () => {
    const claims = Buffer.from(JSON.stringify({ exp: inSeconds(5) })).toString('base64url');
    const tokens = { access_token: `h.${claims}.s`, refresh_token: 'refresh-1', account_id: 'a' };
    const { path, auth } = await login({ OPENAI_API_KEY: null, tokens });
    expect(await auth.apiKey()).toBe('fresh');
    expect(await tokensAt(path)).toMatchObject({
      OPENAI_API_KEY: null,
      tokens: { access_token: 'fresh', refresh_token: 'refresh-2', account_id: 'a' },
    });
  });

  it('that was refused is renewed, and an old refresh token stays where no new one is given', async () => {
    answer = grant({ access_token: 'fresh' });
    const { path, auth } = await login({ access_token: 'revoked', refresh_token: 'refresh-1' });
    expect(await auth.apiKey()).toBe('revoked');
    expect(await auth.apiKey('revoked')).toBe('fresh');
    expect(await tokensAt(path)).toEqual({ access_token: 'fresh', refresh_token: 'refresh-1' });
  });

  it('of another process that was faster is used', async () => {
    const { path, auth } = await login({ access_token: 'old', refresh_token: 'used', expires_at: inSeconds(1) });
    answer = async (response) => {
      await writeFile(path, JSON.stringify({ access_token: 'theirs', refresh_token: 'r', expires_at: inSeconds(900) }));
      response.writeHead(400).end('{"error":"invalid_grant"}');
    };
    expect(await auth.apiKey()).toBe('theirs');
  });

  it('is asked for again after a failure, which shows no secret', async () => {
    const { auth } = await login({ access_token: 'old', refresh_token: 'refresh-secret', expires_at: inSeconds(1) });
    answer = (response) => void response.writeHead(503).end('refresh-secret');
    const failure: unknown = await Promise.resolve(auth.apiKey()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'provider_unavailable' });
    expect(String(failure)).not.toContain('secret');
    answer = grant({ access_token: 'fresh', expires_in: 3_600 });
    expect(await auth.apiKey()).toBe('fresh');
  });

  it.each([
    ['without a file', null, /ENOENT/],
    ['without tokens', { tokens: 7 }, /holds no tokens/],
    ['without a refresh token', { access_token: 'x', expires_at: 1 }, /no refresh token/],
  ])('%s is provider_auth', async (_title, document, message) => {
    const path = join(folder, 'auth.json');
    if (document !== null) await writeFile(path, JSON.stringify(document));
    const auth = oauthToken({ tokenFile: path, tokenUrl, clientId: 'client-1' });
    await expect(auth.apiKey()).rejects.toMatchObject({
      code: 'provider_auth',
      message: expect.stringMatching(message) as string,
    });
  });
});
