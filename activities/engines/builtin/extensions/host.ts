import type { BusEventName, EmittedEvent } from '../../../../contract/extensions/bus-event.ts';
import { ExtensionScope } from '../../../../contract/extensions/extension-scope.ts';
import type { ProviderRecord, ToolRecord } from '../../../../contract/extensions/register-kinds.ts';
import type { ExtensionSettings } from '../../../../infra/extension-settings.ts';
import type { Logger } from '../../../../infra/log.ts';
import type { BuiltinTool, ExecutableTool, Tools } from '../tools/tool.ts';
import { vetoOf, type HookedCall } from './before-tool.ts';
import { ErrorRing } from './error-ring.ts';
import { guardedProvider } from './extension-provider.ts';
import { importExtensions } from './load-modules.ts';
import { toolOfRecord } from './extension-tool.ts';
import { keepInLane } from './run-voice.ts';

export interface ExtensionHostOptions {
  readonly log: Logger;
  /** The engine's own; no extension can take their names. */
  readonly baseTools: Tools;
}

/**
 * The extensions of a worker process: their records, the bus, and what went wrong in them.
 *
 * **Contract:** nothing that an extension does or throws reaches a run but by what it registered: its errors are on the bus, in the ring
 * and in the log, and those of a run's step in that run's lane too.
 */
export class ExtensionHost {
  readonly scope: ExtensionScope;
  readonly errors = new ErrorRing();
  readonly #options: ExtensionHostOptions;
  readonly #tools = new WeakMap<ToolRecord, ExecutableTool>();

  constructor(options: ExtensionHostOptions) {
    this.#options = options;
    this.scope = new ExtensionScope({
      reservedTools: new Set([...options.baseTools.values()].map(({ name }) => name)),
      onEmitted: (event, owner) => this.#emitted(event, owner),
      onUnsaid: ({ owner, error }) =>
        options.log.warn({ owner, error }, 'extension failed while a failure was handled'),
    });
  }

  /** Loads the extensions of the configuration, in their order; again, those that have changed are loaded anew. */
  async loadConfigured(settings: readonly ExtensionSettings[]): Promise<void> {
    const { extensions, unloadable } = await importExtensions(settings);
    for (const { name, error } of unloadable) this.scope.failed(name, error);
    for (const extension of extensions) await this.scope.load(extension);
  }

  /** Emits an event of the engine itself: its frames are its own affair. */
  emit(event: EmittedEvent): void {
    this.scope.bus.emit(event);
  }

  hears(type: BusEventName): boolean {
    return this.scope.bus.hears(type);
  }

  get hasHooks(): boolean {
    return this.scope.registry.list('hook').length > 0;
  }

  /** The engine's tools, then the extensions': the first of a name is the one that is meant. */
  readonly tools: Tools = {
    get: (name) => this.#options.baseTools.get(name) ?? this.#extensionTool(name),
    values: () => this.#allTools(),
  };

  /** The provider that an extension has registered under a name. */
  readonly provider = (name: string): ProviderRecord | undefined => {
    const registered = this.scope.registry.find('provider', name);
    return registered === null ? undefined : guardedProvider(registered.record);
  };

  /** Why the hooks forbid a call, or null (`before-tool.ts`). */
  async vetoOf(call: HookedCall): Promise<string | null> {
    return await vetoOf(this.scope.registry.list('hook'), call, ({ owner, error }) =>
      this.scope.bus.emit({ type: 'extension-error', error, owner, event: 'before-tool' }, owner),
    );
  }

  *#allTools(): Iterable<BuiltinTool> {
    yield* this.#options.baseTools.values();
    for (const { record } of this.scope.registry.list('tool')) yield this.#toolOf(record);
  }

  #extensionTool(name: string): BuiltinTool | undefined {
    const registered = this.scope.registry.find('tool', name);
    return registered === null ? undefined : this.#toolOf(registered.record);
  }

  #toolOf(record: ToolRecord): ExecutableTool {
    const made = this.#tools.get(record);
    if (made !== undefined) return made;
    const tool = toolOfRecord(record, (what) => this.#options.log.warn({ tool: record.name, what }, 'tool schema'));
    this.#tools.set(record, tool);
    return tool;
  }

  #emitted(event: EmittedEvent, owner: string | null): void {
    if (event.type === 'extension-error' || event.type === 'error') {
      const noted = this.errors.note(event);
      this.#options.log.warn(noted, 'extension failed');
    }
    if (owner !== null) keepInLane(event);
  }
}
