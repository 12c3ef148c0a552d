import { TidemarkError } from '../../../contract/errors.ts';
import { previewText } from '../../../contract/frames.ts';
import type { ConfigOption, SessionAnswer } from './agent-answers.ts';
import type { JsonRpcConnection } from '../wire/json-rpc-connection.ts';
import { saidBy } from './session-opening.ts';

export interface WantedSettings {
  readonly mode: string | null;
  readonly model: string | null;
  /** Configuration options, id → value; a boolean's is `true` or `false`. */
  readonly options: Readonly<Record<string, string>>;
}

interface Target {
  readonly name: string;
  readonly sessionId: string;
  readonly session: SessionAnswer;
}

/**
 * Sets a new or resumed session as the engine's settings and the run want it: what is already so is not set again.
 *
 * @throws TidemarkError `unknown_model` for a model that the agent does not have, `engine_unavailable` for a mode or option: a
 * turn under other permissions than those that were asked for must not begin.
 */
export async function applySettings(
  connection: JsonRpcConnection,
  target: Target,
  wanted: WantedSettings,
): Promise<void> {
  if (wanted.mode !== null) await setMode(connection, target, wanted.mode);
  if (wanted.model !== null) await setModel(connection, target, wanted.model);
  for (const [id, value] of Object.entries(wanted.options)) {
    const option = target.session.configOptions.find((offered) => offered.id === id);
    if (option === undefined) {
      const offered = target.session.configOptions.map((known) => known.id);
      throw notOffered(target.name, `option ${id}`, offered);
    }
    await setOption(connection, target, { option, value });
  }
}

async function setMode(connection: JsonRpcConnection, target: Target, mode: string): Promise<void> {
  const { modes, configOptions } = target.session;
  if (modes?.availableModes.some(({ id }) => id === mode) === true) {
    if (modes.currentModeId === mode) return;
    const answer = await connection.request('session/set_mode', { sessionId: target.sessionId, modeId: mode });
    if (answer.error === undefined) return;
    throw refused(target.name, `mode ${mode}`, saidBy(answer));
  }
  const option = configOptions.find(({ category }) => category === 'mode');
  if (option !== undefined) return await setOption(connection, target, { option, value: mode });
  throw notOffered(target.name, `mode ${mode}`, modes?.availableModes.map(({ id }) => id) ?? []);
}

/** By the configuration option of that category, or in the older dialect that gemini speaks and codex-acp speaks beside it. */
async function setModel(connection: JsonRpcConnection, target: Target, model: string): Promise<void> {
  const { models, configOptions } = target.session;
  const option = configOptions.find(({ category }) => category === 'model');
  const choices = option?.options ?? [];
  if (option !== undefined && (choices.length === 0 || choices.includes(model))) {
    return await setOption(connection, target, { option, value: model });
  }
  const offered = models?.availableModels.map(({ modelId }) => modelId) ?? [];
  if (models?.currentModelId === model) return;
  if (!offered.includes(model)) throw unknownModel(target.name, model, [...choices, ...offered]);
  const answer = await connection.request('session/set_model', { sessionId: target.sessionId, modelId: model });
  if (answer.error !== undefined) throw refused(target.name, `model ${model}`, saidBy(answer));
}

async function setOption(
  connection: JsonRpcConnection,
  { name, sessionId }: Target,
  { option, value }: { option: ConfigOption; value: string },
): Promise<void> {
  const isBoolean = option.type === 'boolean';
  const offered = isBoolean ? ['true', 'false'] : option.options;
  if (offered.length > 0 && !offered.includes(value)) throw notOffered(name, `${option.id} ${value}`, offered);
  if (String(option.currentValue) === value) return;
  const chosen = isBoolean ? { type: 'boolean', value: value === 'true' } : { value };
  const answer = await connection.request('session/set_config_option', { sessionId, configId: option.id, ...chosen });
  if (answer.error !== undefined) throw refused(name, `${option.id} ${value}`, saidBy(answer));
}

function refused(name: string, what: string, said: string): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} does not take the ${what}: ${said}`,
    'Set another in tidemark.config.ts, or leave it out.',
  );
}

function notOffered(name: string, what: string, offered: readonly string[]): TidemarkError {
  return new TidemarkError(
    'engine_unavailable',
    `${name} has no ${what}`,
    offered.length === 0 ? 'Leave it out of tidemark.config.ts.' : `Use one of: ${listed(offered)}.`,
  );
}

function unknownModel(name: string, model: string, offered: readonly string[]): TidemarkError {
  return new TidemarkError(
    'unknown_model',
    `${name} has no model ${model}`,
    offered.length === 0 ? 'Leave the model out: this engine has its own choice.' : `Use one of: ${listed(offered)}.`,
  );
}

function listed(names: readonly string[]): string {
  return previewText(names.join(', '), 1_000);
}
