import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

const SECRET_KEYS = [
  'apiKey',
  'api_key',
  'apiKeys',
  'authorization',
  'Authorization',
  'cookie',
  'databaseUrl',
  'password',
  'secret',
  'token',
  'accessToken',
  'access_token',
  'refreshToken',
  'refresh_token',
  '["x-api-key"]',
  '["set-cookie"]',
];
const SECRET_PATHS = SECRET_KEYS.flatMap((key) => {
  const step = key.startsWith('[') ? key : `.${key}`;
  return [step.replace(/^\./, ''), `*${step}`, `*.*${step}`];
});

/**
 * A logger whose lines are JSON on standard error: an event's name and its fields. `component` says which process or part
 * speaks; give `child({ runId })` to whatever works for one run.
 *
 * **Contract:** a field named like a secret is never written, down to three levels; a line is written before the call
 * returns, so that a crash loses none.
 */
export function createLogger(config: Pick<Config, 'logLevel'>, component: string): Logger {
  return pino(
    {
      level: config.logLevel,
      base: { component, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '[secret]' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
