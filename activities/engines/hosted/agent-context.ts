/**
 * What a hosted module's function is told of the run for which it is to make an agent.
 *
 * ```ts
 * export default ({ model, workspace }: HostedAgentContext) => new ToolLoopAgent({ … });
 * ```
 */
export interface HostedAgentContext {
  /** What the run named, else the configuration; null: the agent's own choice. */
  readonly model: string | null;
  /** The folder in which the agent is to work: absolute, there, the thread's own, and the process's working directory. */
  readonly workspace: string;
  readonly threadId: string;
}
