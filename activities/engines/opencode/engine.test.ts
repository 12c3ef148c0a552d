import { afterEach, expect, test } from 'vitest';
import { EngineSettings, type EngineSettingsOf } from '../../../infra/engine-settings.ts';
import { cleared, DriverStage, faultOf, folder, tracked } from '../driver-testkit.ts';
import { createOpencodeEngine } from './engine.ts';

afterEach(cleared);

/** Lets in whom its environment names, has one session, and calls it by the password; of events it says that somebody listens. */
const SERVER = `
const { createServer } = require('node:http');
const { OPENCODE_SERVER_USERNAME: name, OPENCODE_SERVER_PASSWORD: password, OPENCODE_DISABLE_AUTOUPDATE: update } = process.env;
const basic = 'Basic ' + Buffer.from(name + ':' + password).toString('base64');
const server = createServer((req, res) => {
  if (req.headers.authorization !== basic) return res.writeHead(401).end();
  if (req.url.startsWith('/event')) return res.write('data: {"type":"server.connected","properties":{}}\\n\\n');
  res.end(JSON.stringify({ id: 'ses_' + update + '_' + password }));
});
server.listen(0, '127.0.0.1', () => console.log('opencode server listening on http://127.0.0.1:' + server.address().port));
`;

async function engine(settings: object = {}) {
  const command = [process.execPath, '-e', SERVER];
  const parsed = EngineSettings.parse({ kind: 'opencode', command, ...settings }) as EngineSettingsOf<'opencode'>;
  const made = createOpencodeEngine('mine', parsed, { find: () => command });
  const at = new DriverStage(await folder());
  return { at, driver: () => tracked(made.createDriver(at.context)) };
}

test('each server lets in its own driver alone, by a password that no other has', async () => {
  const { driver } = await engine();
  const opened = await Promise.all([driver().open(null), driver().open(null)]);
  const [one, other] = opened.map(({ nativeSessionId }) => /^ses_1_([\w-]{32})$/.exec(nativeSessionId ?? '')?.[1]);
  expect(one).toBeDefined();
  expect(other).toBeDefined();
  expect(other).not.toBe(one);
});

test('the environment that the settings give cannot open the server to others', async () => {
  const { driver } = await engine({ env: { OPENCODE_SERVER_PASSWORD: 'known' } });
  const { nativeSessionId } = await driver().open(null);
  expect(nativeSessionId).not.toContain('known');
});

test('a model without a provider is refused before anything is begun', async () => {
  const { at, driver } = await engine({ model: 'some-model' });
  const fault = await faultOf(driver().open(null));
  expect(fault).toMatchObject({ code: 'unknown_model', message: expect.stringContaining('some-model') as string });
  expect(at.frames).toEqual([]);
});
