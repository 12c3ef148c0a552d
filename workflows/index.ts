export { agentRun } from './agent-run.ts';
export { sweep } from './sweep.ts';
