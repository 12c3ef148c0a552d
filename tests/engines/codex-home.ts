import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The variable in which Codex looks for the key of the model server; any value will do. */
export const CODEX_KEY_VARIABLE = 'LOCAL_API_KEY';

/**
 * Writes a home for Codex whose model is a scripted server at `baseUrl` (`http://127.0.0.1:PORT/v1`, OpenAI Responses).
 *
 * The environment of the engine is what it returns: with it nothing is read or written outside of `folder`, and nobody is asked
 * to sign in.
 */
export async function writeCodexHome(options: {
  readonly folder: string;
  readonly baseUrl: string;
}): Promise<Record<string, string>> {
  const { folder, baseUrl } = options;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.toml'), configOf(baseUrl));
  return { CODEX_HOME: folder, HOME: folder, [CODEX_KEY_VARIABLE]: 'dummy' };
}

function configOf(baseUrl: string): string {
  return [
    'model = "scripted"',
    'model_provider = "local"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[model_providers.local]',
    'name = "Local"',
    `base_url = ${JSON.stringify(baseUrl)}`,
    'wire_api = "responses"',
    `env_key = "${CODEX_KEY_VARIABLE}"`,
    'request_max_retries = 1',
    'stream_max_retries = 1',
    'supports_websockets = false',
    '[tools.update_plan]',
    'enabled = true',
    '',
  ].join('\n');
}
