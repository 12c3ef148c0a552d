export { agentRun } from './agent-run.ts';
export { subAgent } from './sub-agent.ts';
export { sweep } from './sweep.ts';
