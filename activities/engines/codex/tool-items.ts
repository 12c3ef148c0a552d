import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { previewInput, PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { changedFiles } from './file-changes.ts';
import type { FileUpdate, Item, Kept } from './codex-schema.ts';

const TITLE_CHARS = 300;

/** The tool that an item is the use of, as the agent's model calls it; for one with a name of its own, that. */
const TOOL_NAMES: Readonly<Record<string, string>> = {
  commandExecution: 'shell',
  fileChange: 'apply_patch',
  webSearch: 'web_search',
  imageView: 'view_image',
  imageGeneration: 'image_generation',
  sleep: 'sleep',
};
const NAMED_TOOLS: ReadonlySet<string> = new Set(['mcpToolCall', 'dynamicToolCall', 'collabAgentToolCall']);
/** The statuses of the items that went well. Items without a status end well. */
const GONE_WELL: ReadonlySet<string> = new Set(['completed', '']);

/** The name of an item's tool; null for an item that is no tool's. */
export function toolNameOf({ type, tool }: Item): string | null {
  if (NAMED_TOOLS.has(type)) return tool === '' ? 'tool' : tool;
  return Object.hasOwn(TOOL_NAMES, type) ? (TOOL_NAMES[type] ?? null) : null;
}

export function toolStarted(item: Item, name: string): CanonicalBody {
  const title = titleOf(item);
  const server = item.server ?? item.namespace;
  return {
    kind: 'tool.started',
    toolCallId: item.id,
    name,
    ...(title === '' ? {} : { title: previewText(title, TITLE_CHARS) }),
    ...inputOf(item),
    ...(server == null || server === '' ? {} : { server }),
    ...(item.status === '' ? {} : { nativeStatus: item.status }),
  };
}

/** The end of a tool and what it left: a long output as an artifact, and each file that a patch changed. */
export function toolCompleted(item: Item, name: string, kept: Kept): CanonicalBody[] {
  const isWell = GONE_WELL.has(item.status) && item.success !== false;
  const preview = previewText(outputOf(item), PREVIEW_LIMIT_CHARS);
  const completed: CanonicalBody = {
    kind: 'tool.completed',
    toolCallId: item.id,
    status: isWell ? 'ok' : 'error',
    ...(preview === '' ? {} : { preview }),
    ...(kept.output === undefined ? {} : { artifact: kept.output.artifact }),
    ...(isWell ? {} : { error: faultOf(item) }),
    ...(item.status === '' ? {} : { nativeStatus: item.status }),
    ...(item.durationMs == null ? {} : { durationMs: item.durationMs }),
  };
  const created: CanonicalBody[] = kept.output === undefined ? [] : [{ kind: 'artifact.created', ...kept.output }];
  const changes = item.type === 'fileChange' && isWell ? changedFiles(item.changes, kept) : [];
  return [toolStarted(item, name), completed, ...created, ...changes];
}

/** A tool's output as one text. */
export function outputOf(item: Item): string {
  if (item.type === 'commandExecution') return item.aggregatedOutput ?? '';
  const parts = item.result?.content ?? item.contentItems ?? [];
  return parts
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((part) => typeof part === 'string')
    .join('\n');
}

function titleOf(item: Item): string {
  switch (item.type) {
    case 'commandExecution':
      return item.command;
    case 'fileChange':
      return item.changes.map(({ path }) => path).join(', ');
    case 'webSearch':
      return item.query;
    case 'imageView':
      return item.path;
    default:
      return item.prompt ?? '';
  }
}

function inputOf(item: Item): { input?: unknown } {
  switch (item.type) {
    case 'commandExecution':
      return { input: previewInput({ command: item.command, ...(item.cwd === '' ? {} : { cwd: item.cwd }) }) };
    case 'fileChange':
      return { input: previewInput({ changes: item.changes.map(changeShown) }) };
    case 'webSearch':
      return { input: { query: previewText(item.query, PREVIEW_LIMIT_CHARS) } };
    case 'imageView':
      return { input: { path: item.path } };
    case 'collabAgentToolCall':
      return { input: previewInput({ prompt: item.prompt, agents: item.receiverThreadIds }) };
    default:
      return item.arguments === undefined ? {} : { input: previewInput(item.arguments) };
  }
}

function changeShown({ path, kind, diff }: FileUpdate) {
  return { path, kind: kind.type, ...(diff === '' ? {} : { diff }) };
}

function faultOf(item: Item): string {
  if (item.status === 'declined') return 'declined';
  if (item.error != null && item.error.message !== '') return previewText(item.error.message, PREVIEW_LIMIT_CHARS);
  if (item.exitCode != null) return `exit code ${String(item.exitCode)}`;
  return item.status === '' ? 'failed' : item.status;
}
