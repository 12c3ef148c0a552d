import { normalizeNegotiatedCapabilities, type NegotiatedCapabilities } from '../../../contract/capabilities.ts';
import type { InitializeAnswer, SessionAnswer } from './agent-answers.ts';

/** What version 1 of the protocol gives every client: nothing of it is announced. */
const BASELINE = {
  streamingText: true,
  reasoning: true,
  plans: true,
  toolProgress: true,
  fileDiffs: true,
  approvals: true,
  questions: true,
  usage: true,
  commands: true,
  stop: true,
};

/** What this driver can use of an agent at most. */
export const ACP_CAPABILITIES: NegotiatedCapabilities = normalizeNegotiatedCapabilities({
  ...BASELINE,
  childSessions: true,
  modelSelection: true,
  resume: true,
  load: true,
  close: true,
});

/** What a session really has: the protocol's baseline, and what the agent announced beyond it. */
export function negotiated({ agentCapabilities }: InitializeAnswer, session: SessionAnswer): NegotiatedCapabilities {
  const { loadSession, sessionCapabilities, _meta } = agentCapabilities;
  const modelOptions = session.configOptions.filter(({ category }) => category === 'model');
  return normalizeNegotiatedCapabilities({
    ...BASELINE,
    // Claude Code has no announced capability for its sub-agents; their tool calls name their parent
    childSessions: sessionCapabilities.subagents || 'claudeCode' in _meta,
    modelSelection: modelOptions.length > 0 || (session.models?.availableModels.length ?? 0) > 0,
    resume: sessionCapabilities.resume,
    load: loadSession,
    close: sessionCapabilities.close,
  });
}
