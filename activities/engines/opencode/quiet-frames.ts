/** What says nothing that a reader of a run is to see, and why. A type that stands in no list of the dialect is told as unmapped. */
const REASONS: Readonly<Record<string, string>> = {
  'server.connected': 'bookkeeping of the connection',
  'server.heartbeat': 'bookkeeping of the connection',
  'server.instance.disposed': 'bookkeeping of the engine',
  'global.disposed': 'bookkeeping of the engine',
  'plugin.added': 'bookkeeping of the engine',
  'catalog.updated': 'bookkeeping of the engine',
  'integration.updated': 'bookkeeping of the engine',
  'integration.connection.updated': 'bookkeeping of the engine',
  'reference.updated': 'bookkeeping of the engine',
  'models-dev.refreshed': 'bookkeeping of the engine',
  'installation.updated': 'bookkeeping of the engine',
  'installation.update-available': 'bookkeeping of the engine',
  'lsp.updated': 'bookkeeping of the engine',
  'lsp.client.diagnostics': 'bookkeeping of the engine',
  'mcp.tools.changed': 'bookkeeping of the engine',
  'project.updated': 'bookkeeping of the engine',
  'project.directories.updated': 'bookkeeping of the engine',
  'vcs.branch.updated': 'bookkeeping of the engine',
  'workspace.ready': 'bookkeeping of the engine',
  'workspace.status': 'bookkeeping of the engine',
  'worktree.ready': 'bookkeeping of the engine',
  'command.executed': 'bookkeeping of the engine',
  'session.deleted': 'bookkeeping of the engine',
  'tui.prompt.append': 'of its terminal surface, which nobody sees',
  'tui.command.execute': 'of its terminal surface, which nobody sees',
  'tui.session.select': 'of its terminal surface, which nobody sees',
  'file.watcher.updated': 'who changed the file says it',
  'session.diff': 'the message that began the turn says it',
  'permission.replied': 'the platform says what was answered',
  'question.asked': 'the platform asks',
  'question.replied': 'the platform says what was answered',
  'question.rejected': 'the platform says what was answered',
  malformed: 'the run ends with it',
};

/** Events of the server's next generation say again what those of this one say. */
const NEXT_GENERATION = /^(session\.next|permission\.v2|question\.v2|pty)\./;

/** What answers a request of ours is bookkeeping where the dialect reads nothing of it. */
const ANSWER = /^(GET|POST|DELETE|PATCH) \S+:(result|error)$/;
const READ_ANSWERS: ReadonlySet<string> = new Set([
  'POST /session:result',
  'GET /session/*:result',
  'GET /command:result',
]);

/** Why a frame is not said; null for one that is, or that nobody knows. What we sent ourselves is never said. */
export function whyQuiet(type: string, dir: unknown): string | null {
  if (dir === 'send') return 'what this side said';
  if (Object.hasOwn(REASONS, type)) return REASONS[type] ?? null;
  if (NEXT_GENERATION.test(type)) return 'the other generation of the protocol';
  return ANSWER.test(type) && !READ_ANSWERS.has(type) ? 'what follows says what came of the request' : null;
}

const QUIET_PARTS: Readonly<Record<string, string>> = {
  'step-start': 'a call of the model begins with what it says',
  snapshot: 'bookkeeping of the engine',
  retry: 'the status of the session says it',
  compaction: 'said when it is done',
  agent: 'what the agent was told',
  subtask: 'what the agent was told',
};

export function whyQuietPart(type: string): string | null {
  return Object.hasOwn(QUIET_PARTS, type) ? (QUIET_PARTS[type] ?? null) : null;
}
