import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock, type ChatCompletionRequest, type FixtureResponse } from '@copilotkit/aimock';
import { continuingPrompt } from '../../../activities/opaque/turn-prompt.ts';
import { breakOff, FAULTS, isFault, type Fault } from './model-fault.ts';

/** A tool of an engine, as its model calls it. */
export interface ToolUse {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the scripted model makes an engine do, in the engine's own words; what is not there it cannot. */
export interface EngineTools {
  /** Prints, and needs nobody's permission. */
  readonly print: ToolUse;
  /** Makes `made.txt` in the workspace, and needs permission. */
  readonly make: ToolUse;
  /** Works for half a minute. */
  readonly linger: ToolUse;
  /** Writes `note.txt`. */
  readonly write: ToolUse;
  readonly plan?: ToolUse;
  /** Asks for a colour. */
  readonly question?: ToolUse;
  /** Has a sub-agent play the script `text`. */
  readonly child?: ToolUse;
}

/** What a prompt says to the scripted model. */
export type Script = keyof EngineTools | (typeof SPOKEN)[number] | 'parallel' | Fault;

/** The prompt of a script. */
export function promptOf(script: Script): string {
  return `scripted-turn:${script}`;
}

export interface ScriptedModel {
  /** Without a path: `/v1/chat/completions`, `/v1/responses`, `/v1/messages` are under it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Scripts of text alone. */
const SPOKEN = ['text', 'reason', 'long', 'recall'] as const;
const SCRIPT = /scripted-turn:([a-z0-9-]+)/g;
const LONG_TEXT = Array.from({ length: 200 }, (_, i) => `Sentence ${String(i + 1)} of a long answer. `).join('');
const CONTINUED = continuingPrompt([]).split('\n')[0] ?? '';
const SPEECH: Readonly<Record<string, { chunkSize: number; latency: number }>> = {
  long: { chunkSize: 24, latency: 120 },
};
/** What the answer of `text` took. */
const USAGE = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 };
/** An engine asks for a session's title without tools, beside its turn. */
const TITLE = 'A scripted title';

/**
 * A model that every engine can speak with (OpenAI chat and Responses, Anthropic Messages), whose answers are scripted by aimock,
 * behind a front that makes the faults of a network and of a server.
 */
export async function startScriptedModel(tools: EngineTools): Promise<ScriptedModel> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  let calls = 0;
  const call = ({ name, arguments: args }: ToolUse) => {
    calls += 1;
    return { id: `call_${String(calls)}`, name, arguments: JSON.stringify(args) };
  };
  mock.on({ predicate: ({ tools: offered }) => (offered ?? []).length === 0 }, { content: TITLE });
  const uses = Object.entries(tools).map(([name, tool]: [string, ToolUse]) => [name, [tool]] as const);
  for (const [name, used] of [...uses, ['parallel', [tools.print, tools.print]] as const]) {
    mock.on({ predicate: (chat) => placeIn(chat).script === name }, (chat) => {
      const { results, isContinued } = placeIn(chat);
      if (isContinued) return { content: 'I went on.' };
      return results > 0 ? { content: `The ${name} is over.` } : { content: `I ${name}.`, toolCalls: used.map(call) };
    });
  }
  for (const name of [...SPOKEN, ...FAULTS]) {
    mock.on({ predicate: (chat) => placeIn(chat).script === name }, (chat) => textAnswer(name, chat), SPEECH[name]);
  }
  await mock.start();

  const server = createServer((req, res) => {
    void answer(req, res).catch(() => res.destroy());
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const script = [...body.toString().matchAll(SCRIPT)].at(-1)?.[1];
    const target = new URL(req.url ?? '/', mock.url);
    const upstream = request(target, { method: req.method, headers: { ...req.headers, host: target.host } });
    res.on('close', () => upstream.destroy());
    upstream.on('error', () => res.destroy());
    upstream.on('response', (answered) => {
      if (isFault(script) && req.method === 'POST') void breakOff(script, answered, res);
      else {
        res.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.on('aborted', () => res.destroy());
        answered.pipe(res);
      }
    });
    upstream.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await mock.stop();
    },
  };
}

function textAnswer(script: string, chat: ChatCompletionRequest): FixtureResponse {
  const { prompts, isContinued } = placeIn(chat);
  if (script === 'recall') return { content: `I was told ${String(prompts)} things.` };
  if (isContinued) return { content: 'I went on.' };
  if (script === 'reason') return { content: 'The answer is 4.', reasoning: 'Two and two are four.' };
  if (script === 'text') return { content: 'Hello from the scripted model.', usage: USAGE };
  return { content: LONG_TEXT };
}

/** Where in which script a conversation is. */
function placeIn({ messages }: ChatCompletionRequest) {
  const told = messages.map(({ role, content }) => (role === 'user' ? JSON.stringify(content ?? '') : ''));
  const scripts = told.map((text) => [...text.matchAll(SCRIPT)].at(-1)?.[1]);
  const last = scripts.findLastIndex((script) => script !== undefined);
  return {
    script: scripts[last],
    /** Scripts that it was given, in messages of their own. */
    prompts: scripts.filter((script) => script !== undefined).length,
    results: messages.slice(last + 1).filter(({ role }) => role === 'tool').length,
    isContinued: told.slice(last + 1).some((text) => text.includes(CONTINUED)),
  };
}
