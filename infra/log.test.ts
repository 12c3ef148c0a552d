import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = `
  const { createLogger } = await import(process.argv[1]);
  const log = createLogger({ logLevel: 'info' }, 'gateway').child({ runId: 'run_1' });
  log.debug('not this');
  log.info({ seq: 3, apiKey: 's3cret', headers: { authorization: 's3cret' }, a: { b: { password: 's3cret' } } }, 'run sealed');
  process.kill(process.pid, 'SIGKILL');
`;

it('writes JSON lines to standard error, without secrets, and loses none in a crash', () => {
  const args = ['--input-type=module', '-e', SCRIPT, join(import.meta.dirname, 'log.ts')];
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(stderr).not.toContain('s3cret');
  expect(JSON.parse(stderr)).toMatchObject({
    level: 'info',
    component: 'gateway',
    runId: 'run_1',
    seq: 3,
    headers: { authorization: '[secret]' },
    msg: 'run sealed',
  });
});
