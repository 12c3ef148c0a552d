import type { Message } from '../../contract/agent-messages.ts';
import { delegatingStepOf } from '../../contract/sub-agent.ts';
import { messagesOfSubAgent } from '../../infra/postgres/message.ts';
import type { RunRow } from '../../infra/postgres/run.ts';
import { readSubAgent } from '../../infra/postgres/sub-agent.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Tools } from '../engines/builtin/tools/tool.ts';
import { subAgentPrompt, systemPrompt } from './system-prompt.ts';

/** Who does a model step: the run's own agent, or one of its sub-agents. */
export interface StepAgent {
  /** The step of the call that gave a sub-agent its task; null for the run's own agent. */
  readonly delegatingStep: number | null;
  readonly model: string;
  readonly systemPrompt: string;
  readonly tools: Tools;
  /** What a sub-agent sees, which is never compacted: its steps are few. Null: the run's conversation (`conversation.ts`). */
  readonly conversation: (() => Promise<Message[]>) | null;
}

export async function agentOfStep(
  { pool, tools }: Pick<Dependencies, 'pool' | 'tools'>,
  run: RunRow,
  stepIndex: number,
): Promise<StepAgent> {
  const { run_id: runId, model, settings } = run;
  const prompt = systemPrompt(settings.system_prompt);
  const delegatingStep = delegatingStepOf(stepIndex);
  if (delegatingStep === null) return { delegatingStep, model, systemPrompt: prompt, tools, conversation: null };
  const subAgent = await readSubAgent(pool, runId, delegatingStep);
  return {
    delegatingStep,
    model: subAgent.model ?? model,
    systemPrompt: subAgentPrompt(prompt),
    tools: delegable(tools, subAgent.tools),
    conversation: () => messagesOfSubAgent(pool, runId, delegatingStep),
  };
}

/** The tools that the agent of a step may call. */
export async function toolsOfStep(
  { pool, tools }: Pick<Dependencies, 'pool' | 'tools'>,
  runId: string,
  stepIndex: number,
): Promise<Tools> {
  const delegatingStep = delegatingStepOf(stepIndex);
  if (delegatingStep === null) return tools;
  return delegable(tools, (await readSubAgent(pool, runId, delegatingStep)).tools);
}

/** What a sub-agent may be given: it does not delegate itself, so the depth is bounded. `names`: these only; null: all. */
export function delegable(tools: Tools, names: readonly string[] | null = null): Tools {
  const isGiven = (name: string): boolean => names === null || names.includes(name);
  return {
    get: (name) => {
      const tool = isGiven(name) ? tools.get(name) : undefined;
      return tool?.kind === 'delegate' ? undefined : tool;
    },
    values: () => Array.from(tools.values()).filter(({ name, kind }) => kind !== 'delegate' && isGiven(name)),
  };
}
