import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { Commands, ContextUsage, PromptResult, SessionState, type Usage } from './acp-schema.ts';
import { TABLE_LIMITS } from './acp-state.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import type { Scribe } from './scribe.ts';

const CATALOG_LIMIT = 300;
const DESCRIPTION_CHARS = 500;

/** The answer to a request that opened a session: what may be chosen in it, and what is. */
export function sayOpenedSession(scribe: Scribe, result: unknown): string {
  const session = SessionState.safeParse(result).data;
  if (session === undefined) return 'an answer without a session';
  const sessionId = session.sessionId ?? scribe.state.sessionId;
  scribe.remember({ sessionId });
  const modes = session.modes?.availableModes.map(({ id }) => id).slice(0, CATALOG_LIMIT) ?? [];
  const models = session.models?.availableModels.map(({ modelId }) => modelId).slice(0, CATALOG_LIMIT) ?? [];
  const metadata = {
    ...(sessionId === null ? {} : { sessionId }),
    ...(modes.length === 0 ? {} : { modes }),
    ...(models.length === 0 ? {} : { models }),
  };
  if (Object.keys(metadata).length > 0) scribe.say(scribe.self, { kind: 'session.metadata', metadata });
  saySettings(scribe, session);
  return 'nothing new of a session';
}

/** Mode, model and options as they are now: what differs from what was said. */
export function saySettings(scribe: Scribe, session: SessionState): string {
  const settings = new Map<string, string>();
  const options = new Map<string, string | boolean>();
  for (const { id, category, currentValue } of session.configOptions ?? []) {
    if (currentValue == null) continue;
    if (category === 'mode' || category === 'model') settings.set(category, String(currentValue));
    else options.set(id, currentValue);
  }
  if (session.modes?.currentModeId != null) settings.set('mode', session.modes.currentModeId);
  if (session.models?.currentModelId != null && !settings.has('model'))
    settings.set('model', session.models.currentModelId);
  saySetting(scribe, { mode: settings.get('mode'), model: settings.get('model') });
  const changed = [...options].filter(([id, value]) => isNews(scribe, `option:${id}`, String(value)));
  if (changed.length > 0) {
    scribe.say(scribe.self, { kind: 'session.metadata', metadata: { options: Object.fromEntries(changed) } });
  }
  return 'nothing of it changed';
}

export function saySetting(
  scribe: Scribe,
  { mode, model }: { readonly mode?: string | undefined; readonly model?: string | undefined },
): string {
  const changed = {
    ...(mode !== undefined && isNews(scribe, 'mode', mode) ? { mode } : {}),
    ...(model !== undefined && isNews(scribe, 'model', model) ? { model } : {}),
  };
  if (Object.keys(changed).length > 0) scribe.say(scribe.self, { kind: 'mode.updated', ...changed });
  return 'nothing of it changed';
}

/** The catalogue of commands, each name once, whatever has none left out. */
export function sayCommands(scribe: Scribe, update: unknown): string {
  const parsed = Commands.safeParse(update).data;
  if (parsed === undefined) return '';
  const catalog = new Map<string, NonNullable<CanonicalBody<'commands.updated'>['catalog']>[number]>();
  for (const { name, description, input } of parsed.availableCommands) {
    if (name == null || name === '' || catalog.has(name) || catalog.size >= CATALOG_LIMIT) continue;
    const hint = typeof input === 'string' ? input : input?.hint;
    catalog.set(name, {
      name,
      ...(description == null ? {} : { description: previewText(description, DESCRIPTION_CHARS) }),
      ...(hint === undefined ? {} : { input: previewText(hint, DESCRIPTION_CHARS) }),
    });
  }
  const commands = [...catalog.keys()];
  scribe.say(scribe.self, { kind: 'commands.updated', commands, catalog: [...catalog.values()] });
  return '';
}

/** How full the context is, and what the session has cost so far. */
export function sayContextUsage(scribe: Scribe, update: unknown): string {
  const usage = ContextUsage.safeParse(update).data;
  if (usage === undefined) return '';
  const contextFill = `${String(usage.used)}/${String(usage.size)}`;
  if (contextFill !== scribe.state.contextFill) {
    const metadata = { contextUsed: usage.used, contextSize: usage.size };
    scribe.say(scribe.self, { kind: 'session.metadata', metadata });
  }
  const costUsd = usage.cost?.currency === 'USD' ? usage.cost.amount : null;
  // after the turn's end it is no longer the turn's
  const isNewCost = costUsd !== null && costUsd !== scribe.state.costUsd && scribe.state.turn !== 'over';
  if (isNewCost) scribe.say(scribe.self, { kind: 'usage.updated', costUsd });
  scribe.remember({ contextFill, ...(isNewCost ? { costUsd } : {}) });
  return 'the context is as full as it was';
}

/** The turn's tokens, from the answer to its prompt; Gemini keeps them in `_meta.quota`. */
export function sayTurnUsage(scribe: Scribe, result: unknown): string {
  const parsed = PromptResult.safeParse(result).data;
  const count = parsed?.['_meta']?.quota?.token_count;
  const tokens =
    parsed?.usage != null
      ? { inputTokens: wholePrompt(parsed.usage), outputTokens: parsed.usage.outputTokens }
      : { inputTokens: count?.input_tokens, outputTokens: count?.output_tokens };
  const { inputTokens, outputTokens } = tokens;
  if ((inputTokens ?? 0) + (outputTokens ?? 0) === 0)
    return "the run's end says how the turn ended; no tokens were reported";
  const cachedInputTokens = parsed?.usage?.cachedReadTokens;
  const { costUsd } = scribe.state;
  scribe.say(scribe.self, {
    kind: 'usage.updated',
    ...(inputTokens == null ? {} : { inputTokens }),
    ...(outputTokens == null ? {} : { outputTokens }),
    ...(cachedInputTokens == null ? {} : { cachedInputTokens }),
    // the newest `usage.updated` is what a reader shows, so it has all that is known
    ...(costUsd === null ? {} : { costUsd }),
  });
  return '';
}

/** Some agents count what the cache gave into the input, others beside it: the total tells which. */
function wholePrompt({
  totalTokens,
  inputTokens,
  outputTokens,
  cachedReadTokens,
  cachedWriteTokens,
}: Usage): number | null {
  if (inputTokens == null) return null;
  const cached = (cachedReadTokens ?? 0) + (cachedWriteTokens ?? 0);
  const isBeside = totalTokens != null && totalTokens >= inputTokens + (outputTokens ?? 0) + cached;
  return isBeside ? inputTokens + cached : inputTokens;
}

function isNews(scribe: Scribe, setting: string, value: string): boolean {
  const { settings } = scribe.state;
  if (entryOf(settings, setting) === value) return false;
  scribe.remember({ settings: withEntry(settings, setting, value, TABLE_LIMITS.settings) });
  return true;
}
