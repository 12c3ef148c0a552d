import { relative } from 'node:path';
import { withoutPassword, type Config } from '../config.ts';
import { urlsFile, type Urls } from './urls-file.ts';

/** What a person reads when everything runs: where it is, which model answers, what to try first. */
export function banner(config: Config, urls: Urls): string {
  const auth = config.apiKeys.length > 0 ? ` -H 'authorization: Bearer <one of TIDEMARK_API_KEYS>'` : '';
  return `
Tidemark is ready.

  Gateway       ${urls.gateway}
  Temporal UI   ${urls.temporal_ui ?? `not started here (Temporal is at ${urls.temporal_address})`}
  Database      ${withoutPassword(urls.database_url)}
  Model         ${describeModel(config)}

Try:
  curl -s ${urls.gateway}/v1/runs${auth} -H 'content-type: application/json' -d '{"input":"Hello"}'
  curl -N ${urls.gateway}/v1/threads/<thread_id>/events${auth}

Logs and data are in ${shortPath(config.home)}, what runs where in ${shortPath(urlsFile(config.home))}. Ctrl-C stops everything and keeps the data.
`;
}

function describeModel({ model, providers }: Config): string {
  if (model.startsWith('scripted/')) {
    return `${model}: no real model, it plays a prepared scene.
                For a real one set OPENAI_API_KEY (and OPENAI_BASE_URL for another server than OpenAI's) or ANTHROPIC_API_KEY.`;
  }
  const { openai, anthropic, openaiCodex } = providers;
  const server = { openai, anthropic, 'openai-codex': openaiCodex }[model.slice(0, model.indexOf('/'))];
  return server?.baseUrl === undefined ? model : `${model} at ${withoutPassword(server.baseUrl)}`;
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short || '.';
}
