import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { Commands, Initialized, SessionInit, StatusMessage, type Command } from './claude-schema.ts';
import { faultText } from './fault-text.ts';
import { saying, unread, type ClaudeState, type Saying, type Step } from './translation-state.ts';
import type { z } from 'zod';

const CATALOG_LIMIT = 300;
const DESCRIPTION_CHARS = 500;

/** The greeting's answer: what the program is, and what commands it has. */
export function initialized(state: ClaudeState, params: unknown): Step {
  const answer = Initialized.safeParse(params).data?.response.response;
  if (answer === undefined) return unread(state);
  const { commands, models, output_style: outputStyle, claude_code_version: version } = answer;
  const names = models.map(({ value }) => value).filter((value) => value !== '');
  const metadata = {
    agent: { name: 'Claude Code', ...(version == null ? {} : { version }) },
    ...(names.length === 0 ? {} : { models: names.slice(0, CATALOG_LIMIT) }),
    ...(outputStyle == null ? {} : { outputStyle }),
  };
  return saying(state, [{ kind: 'session.metadata', metadata }, ...commandsOf(commands)]);
}

export function commandsChanged(state: ClaudeState, params: unknown): Step {
  const changed = Commands.safeParse(params).data;
  return changed === undefined ? unread(state) : saying(state, commandsOf(changed.commands), 'no commands');
}

/** The beginning of a round: the session, its mode and model, and the MCP servers that it lacks. */
export function roundBegun(state: ClaudeState, params: unknown): Step {
  const init = SessionInit.safeParse(params).data;
  if (init === undefined) return unread(state);
  const { session_id: sessionId, permissionMode, model, mcp_servers: servers, tools } = init;
  const isFirst = state.sessionId !== sessionId;
  const next = { ...state, sessionId, cwd: init.cwd ?? state.cwd };
  const settings = settingsChanged(next, { mode: permissionMode, model });
  if (!isFirst) return saying(settings.state, settings.bodies, 'another round of the same session');
  const metadata = { tools: tools.slice(0, CATALOG_LIMIT), mcpServers: servers.slice(0, CATALOG_LIMIT) };
  const lacking = servers
    .filter(({ status }) => status === 'failed')
    .map(({ name }): CanonicalBody => {
      return { kind: 'harness.warning', message: `MCP server ${name} did not start`, rawEventType: 'system/init' };
    });
  return saying(settings.state, [{ kind: 'session.metadata', metadata }, ...settings.bodies, ...lacking]);
}

export function statusChanged(state: ClaudeState, params: unknown): Step {
  const changed = StatusMessage.safeParse(params).data;
  if (changed === undefined) return unread(state);
  const { permissionMode: mode, compact_result: result, compact_error: reason } = changed;
  const settings = settingsChanged(state, { mode });
  const failed: CanonicalBody[] =
    result === 'failed'
      ? [
          {
            kind: 'harness.warning',
            message: faultText(reason ?? ''),
            rawEventType: 'system/status',
            code: 'compaction_failed',
          },
        ]
      : [];
  return saying(settings.state, [...settings.bodies, ...failed], 'what it does now is seen by what it says');
}

/** Mode and model as they are now: said where they differ from what was. */
export function settingsChanged(
  state: ClaudeState,
  { mode, model }: { readonly mode?: string | null | undefined; readonly model?: string | null | undefined },
): Saying {
  const changed = {
    ...(mode == null || mode === state.mode ? {} : { mode }),
    ...(model == null || model === state.model ? {} : { model }),
  };
  if (Object.keys(changed).length === 0) return { state, bodies: [] };
  return { state: { ...state, ...changed }, bodies: [{ kind: 'mode.updated', ...changed }] };
}

/** The catalogue of commands, each name once. */
function commandsOf(listed: readonly z.infer<typeof Command>[]): CanonicalBody[] {
  const catalog = new Map<string, NonNullable<CanonicalBody<'commands.updated'>['catalog']>[number]>();
  for (const { name, description, argumentHint: hint } of listed) {
    if (name === '' || catalog.has(name) || catalog.size >= CATALOG_LIMIT) continue;
    catalog.set(name, {
      name,
      ...(description == null || description === ''
        ? {}
        : { description: previewText(description, DESCRIPTION_CHARS) }),
      ...(hint == null || hint === '' ? {} : { input: previewText(hint, DESCRIPTION_CHARS) }),
    });
  }
  if (catalog.size === 0) return [];
  return [{ kind: 'commands.updated', commands: [...catalog.keys()], catalog: [...catalog.values()] }];
}
