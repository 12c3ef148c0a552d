import { Socket } from 'node:net';
import type { HostedKind } from '../../../infra/engine-settings.ts';
import { Host } from './host.ts';
import { PROTOCOL_IN_FD, PROTOCOL_OUT_FD } from './host-launch.ts';
import type { OpenAgent } from './hosted-agent.ts';
import { loadUserModule } from './user-module.ts';

/** `host-main.ts KIND MODULE`: the process in which a module of the user's runs. */
const KINDS: Readonly<Record<HostedKind, () => Promise<OpenAgent>>> = {
  'ai-sdk': async () => (await import('./ai-sdk/host.ts')).openAiSdkAgent,
  langgraph: async () => (await import('./langgraph/host.ts')).openLangGraphAgent,
};

const [kind, module] = process.argv.slice(2) as [HostedKind, string];
const input = new Socket({ fd: PROTOCOL_IN_FD, readable: true, writable: false });
const output = new Socket({ fd: PROTOCOL_OUT_FD, readable: false, writable: true });
const host = new Host(output, async (opening) => {
  const openAgent = await KINDS[kind]();
  const { model, workspace, threadId } = opening;
  const loaded = await loadUserModule(module, { model, workspace, threadId });
  const agent = await openAgent(loaded, opening);
  const { nativeSessionId, resumed, resumable } = agent;
  const { choosesModel } = loaded;
  return { nativeSessionId, resumed, resumable, choosesModel, turn: (text, line) => agent.turn(text, line) };
});
await host.serve(input);
// what the module has left running would hold the process
process.exit(0);
