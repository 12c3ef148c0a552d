import type { EngineTools, ToolUse } from './scripted-model.ts';

const run = (cmd: string, more: object = {}): ToolUse => ({ name: 'exec_command', arguments: { cmd, ...more } });
const PATCH = ['*** Begin Patch', '*** Add File: note.txt', '+written by the agent', '*** End Patch'].join('\n');
const OUTSIDE = { sandbox_permissions: 'require_escalated', justification: 'It is to run outside of the sandbox' };
const STEPS = [
  { step: 'Look at the file', status: 'in_progress' },
  { step: 'Change it', status: 'pending' },
];

/** The tools of Codex's model, however Codex is driven. */
export const CODEX_TOOLS: EngineTools = {
  print: run('echo from-the-shell'),
  make: run('touch made.txt', OUTSIDE),
  linger: run('sleep 30', { yield_time_ms: 25_000 }),
  write: run(`apply_patch <<'EOF'\n${PATCH}\nEOF`),
  plan: { name: 'update_plan', arguments: { plan: STEPS } },
};
