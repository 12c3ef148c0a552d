import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExtensionScope } from '../../contract/extensions/extension-scope.ts';
import type { Extension } from '../../contract/extensions/extension.ts';
import { TidemarkApiError } from '../typescript/api-error.ts';
import type { TidemarkClient } from '../typescript/client.ts';
import { ChatSession } from './chat-session.ts';
import type { Environment } from './environment.ts';
import type { InvocationOf } from './invocation.ts';
import type { Presenter, PresenterContext } from './presenter.ts';
import { builtinPresenters } from './presenters/builtin.ts';
import type { Streams } from './streams.ts';
import { UsageError } from './usage.ts';

/** The owner of the presenters that ship. */
const OWN = 'tidemark';

export interface ChatSurroundings {
  readonly streams: Streams;
  readonly environment: Pick<Environment, 'folder' | 'isColourless'>;
  readonly signal: AbortSignal;
  readonly onCtrlC: PresenterContext['onCtrlC'];
}

/** `chat`: runs one presenter, again as often as it is told to begin anew; gives the exit code. */
export async function chat(
  client: TidemarkClient,
  { values, args }: InvocationOf<'chat'>,
  surroundings: ChatSurroundings,
): Promise<number> {
  const { streams, environment, signal, onCtrlC } = surroundings;
  const scope = await loadPresenters(values.extension ?? [], surroundings);
  const presenter = choosePresenter(scope, values.presenter ?? usualPresenter(streams));
  const session = new ChatSession(client, { threadId: values.thread, engine: values.engine, model: values.model });
  let exitCode = 0;
  let prompt = args.length === 0 ? null : args.join(' ');
  let isAgain = true;
  while (isAgain) {
    const ending = new AbortController();
    isAgain = false;
    const context: PresenterContext = {
      session,
      bus: scope.bus,
      streams,
      prompt,
      approvesAll: values.approve === true,
      isColourless: environment.isColourless,
      signal: AbortSignal.any([signal, ending.signal]),
      onCtrlC,
      exitWith: (code) => (exitCode = code),
    };
    const stop = scope.bus.on('reinit-presenter', () => {
      isAgain = !signal.aborted;
      ending.abort();
    });
    try {
      await runOnce(presenter.record, context);
    } catch (error) {
      if (presenter.owner === OWN || error instanceof TidemarkApiError || error instanceof UsageError) throw error;
      scope.failed(presenter.owner, error);
      return 1;
    } finally {
      stop();
    }
    prompt = null;
  }
  return exitCode;
}

async function runOnce(presenter: Presenter, context: PresenterContext): Promise<void> {
  await presenter.init?.(context);
  try {
    await presenter.run(context);
  } finally {
    await presenter.shutdown?.(context);
  }
}

/** Those of extensions come first, so one of them may stand in for one that ships. */
async function loadPresenters(modules: readonly string[], surroundings: ChatSurroundings): Promise<ExtensionScope> {
  const { streams, environment } = surroundings;
  const scope = new ExtensionScope();
  scope.bus.on('extension-error', ({ owner, error }) => {
    streams.errors.write(`extension ${owner ?? ''}: ${error}\n`);
  });
  for (const path of modules) {
    const extension = await importExtension(resolve(environment.folder, path));
    const { error } = await scope.load({ name: path, firstParty: false, extension });
    if (error !== null) throw new UsageError(`the extension ${path} could not be loaded: ${error}`);
  }
  await scope.load({ name: OWN, firstParty: true, extension: builtinPresenters });
  return scope;
}

async function importExtension(path: string): Promise<Extension> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  } catch (error) {
    throw new UsageError(
      `the extension ${path} could not be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (typeof module.default === 'function') return module.default as Extension;
  throw new UsageError(`the extension ${path} has no function as its default export`);
}

function choosePresenter(
  { registry }: ExtensionScope,
  name: string,
): { readonly owner: string; readonly record: Presenter } {
  const found = registry.find('presenter', name);
  // what a presenter is run with is this program's to say: its kind leaves it open
  if (found !== null) return found;
  const names = registry.list('presenter').map(({ record }) => record.name);
  throw new UsageError(`there is no presenter ${JSON.stringify(name)}; there are ${[...new Set(names)].join(', ')}`);
}

function usualPresenter({ input, output }: Streams): string {
  return input.isTTY === true && output.isTTY === true ? 'terminal' : 'print';
}
