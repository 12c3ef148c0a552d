import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { NativeConnection, Runtime, Worker, type RuntimeOptions } from '@temporalio/worker';
import { loadConfig, describeConfig, requireDatabaseUrl } from '../infra/config.ts';
import { Dispatcher } from '../infra/dispatcher.ts';
import { createLogger, type Logger } from '../infra/log.ts';
import { EXTENSION_CALL_CHANNEL, RELOAD_CHANNEL, tellReload } from '../infra/postgres/extension-call.ts';
import { RUN_CHANNEL } from '../infra/postgres/command.ts';
import { createListener } from '../infra/postgres/listener.ts';
import { openDatabase } from '../infra/postgres/open-database.ts';
import { connectTemporal } from '../infra/temporal/client.ts';
import { ensureSearchAttributes } from '../infra/temporal/search-attributes.ts';
import { ensureSweepSchedule } from '../infra/temporal/sweep-schedule.ts';
import { runProcess } from '../infra/process.ts';
import { runtimeIdOf } from '../infra/runtime-id.ts';
import { loadTidemarkConfig } from '../infra/tidemark-config.ts';
import { createApplyRetention } from './apply-retention.ts';
import { buildWorkflowBundle } from './bundle.ts';
import type { Dependencies } from './dependencies.ts';
import { engineExtension } from './engines/builtin/extensions/engine-extension.ts';
import { ExtensionHost } from './engines/builtin/extensions/host.ts';
import { createEngineDeps } from './engines/engine-deps.ts';
import { createEngines } from './engines/registry.ts';
import { providerSettings } from './engines/builtin/provider-settings.ts';
import { createProviders } from './engines/builtin/providers/registry.ts';
import { createEraseDue } from './erase-due.ts';
import { joinedTools } from './engines/builtin/mcp/joined-tools.ts';
import { McpTools } from './engines/builtin/mcp/mcp-tools.ts';
import { JsonlSessions } from './engines/builtin/sessions/jsonl-sessions.ts';
import { PostgresSessions } from './engines/builtin/sessions/postgres-sessions.ts';
import { SessionMirror } from './engines/builtin/sessions/session-mirror.ts';
import { sessionsExtension } from './engines/builtin/sessions/sessions-extension.ts';
import { builtinTools } from './engines/builtin/tools/registry.ts';
import { ExtensionCalls } from './extensions/extension-calls.ts';
import { cancelRun } from './cancel-run.ts';
import { GroupCommitter } from './group-committer.ts';
import { controlActivities, engineActivities } from './index.ts';
import { Periodic } from './periodic.ts';
import { RunWatch } from './run-watch.ts';
import { workerSettings } from './worker-options.ts';

const ERASE_EVERY_MS = 1_000;
const RETAIN_EVERY_MS = 60_000;

/** What Temporal warns of and is meant to be: the engine queue's worker has no workflows. */
const EXPECTED = 'No workflows registered, not polling for workflow tasks';

/** One worker process: both queues, one committer, one LISTEN connection (`npm run worker`). */
await runProcess('worker', async () => {
  const config = loadConfig();
  const log = createLogger(config, 'worker');
  log.info({ config: describeConfig(config) }, 'worker starts');
  const databaseUrl = requireDatabaseUrl(config);
  const pool = await openDatabase(databaseUrl, { applicationName: 'tidemark-worker', log });
  const temporal = await connectTemporal(config);
  await ensureSearchAttributes(temporal);
  await ensureSweepSchedule(temporal);
  const watch = new RunWatch(pool, log);
  const committer = new GroupCommitter(pool, log);
  const tidemark = await loadTidemarkConfig(config);
  const mcp = await McpTools.of({ servers: tidemark.mcpServers, log });
  mcp.start();
  const extensions = new ExtensionHost({ log, baseTools: joinedTools(builtinTools(), mcp) });
  await extensions.loadConfigured(tidemark.extensions);
  const { registry } = extensions.scope;
  const providers = await createProviders(
    providerSettings(config.providers, (name) => registry.find('auth-backend', name)?.record),
    extensions.provider,
  );
  const jsonl = tidemark.sessions === null ? null : new JsonlSessions({ folder: tidemark.sessions.folder, log });
  const sessionMirror = jsonl === null ? null : new SessionMirror({ pool, sessions: jsonl, log });
  const deps: Dependencies = {
    config,
    pool,
    log,
    committer,
    watch,
    providers,
    models: tidemark.models,
    tools: extensions.tools,
    extensions,
    mcp,
    sessionMirror,
    temporal,
    engines: createEngines(tidemark.engines, createEngineDeps(config)),
    runtimeId: await runtimeIdOf(config.home),
  };
  await extensions.scope.load({
    name: 'engine',
    firstParty: true,
    extension: engineExtension({
      registry,
      errors: () => extensions.errors.all(),
      outages: () => mcp.outages(),
      toolNames: () => Array.from(extensions.tools.values(), ({ name }) => name),
      reload: async () => await tellReload(pool),
      cancel: async (runId) => await cancelRun(deps, runId),
    }),
  });
  const postgres = new PostgresSessions({ pool, model: config.model });
  await extensions.scope.load({
    name: 'sessions',
    firstParty: true,
    extension: sessionsExtension({ postgres, jsonl }),
  });
  const calls = new ExtensionCalls(deps, `${hostname()}.${String(process.pid)}.${randomUUID()}`);
  await mkdir(config.workspaceRoot, { recursive: true, mode: 0o700 });

  Runtime.install(runtimeOptions(log));
  const connection = await NativeConnection.connect(nativeOptions());
  const workers = await createWorkers();
  const listener = createListener({
    databaseUrl,
    channels: [RUN_CHANNEL, EXTENSION_CALL_CHANNEL, RELOAD_CHANNEL],
    onNotify,
    onConnect: () => undefined,
    log,
  });
  /** Hints: what they tell of is also found without them. */
  function onNotify(channel: string, payload: string): void {
    if (channel === RUN_CHANNEL) void watch.recheck([payload]);
    if (channel === EXTENSION_CALL_CHANNEL) calls.hasNews();
    if (channel === RELOAD_CHANNEL) void extensions.loadConfigured(tidemark.extensions);
  }
  const dispatcher = new Dispatcher({ pool, temporal, log });
  await listener.start();
  watch.start();
  calls.start();
  dispatcher.start();
  const eraser = new Periodic({
    everyMs: ERASE_EVERY_MS,
    work: createEraseDue(deps),
    failure: 'erasures not read; they are read again',
    log,
  });
  const retention = new Periodic({
    everyMs: RETAIN_EVERY_MS,
    work: createApplyRetention(deps),
    failure: 'retention not applied; it is tried again',
    log,
  });
  eraser.start();
  retention.start();
  const runs = Promise.all(workers.map(async (worker) => await worker.run()));
  runs.catch(() => undefined);

  return {
    log,
    ready: {},
    ended: runs.then(() => undefined),
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await runs;
      await Promise.all([calls.stop(), dispatcher.stop(), eraser.stop(), retention.stop(), listener.stop()]);
      watch.stop();
      await mcp.close();
      await committer.idle();
      await sessionMirror?.idle();
      await temporal.connection.close();
      await connection.close();
      await pool.end();
    },
  };

  async function createWorkers(): Promise<Worker[]> {
    const settings = workerSettings(config, log);
    const common = {
      connection,
      namespace: config.temporal.namespace,
      identity: `${String(process.pid)}@${hostname()}`,
    };
    const codePath = config.workflowBundlePath ?? (await bundleHere());
    return [
      await Worker.create({
        ...common,
        ...settings.control,
        workflowBundle: { codePath },
        activities: controlActivities(deps),
      }),
      await Worker.create({ ...common, ...settings.engine, activities: engineActivities(deps) }),
    ];
  }

  async function bundleHere(): Promise<string> {
    const codePath = join(config.home, 'workflow-bundle.js');
    await mkdir(config.home, { recursive: true });
    await buildWorkflowBundle(codePath);
    return codePath;
  }

  function nativeOptions(): Parameters<typeof NativeConnection.connect>[0] {
    const { address, tls, apiKey, metadata } = config.temporal.connectionOptions;
    return {
      address: address ?? 'localhost:7233',
      ...(tls === undefined ? {} : { tls }),
      ...(typeof apiKey === 'string' ? { apiKey } : {}),
      ...(metadata === undefined ? {} : { metadata: metadata }),
    };
  }
});

/** Signals are handled by `runProcess`, and Temporal's own log lines go where ours go. */
function runtimeOptions(log: Logger): RuntimeOptions {
  const temporalLog = log.child({ part: 'temporal' });
  const write =
    (level: 'debug' | 'warn' | 'error') =>
    (message: string, meta: object = {}): void => {
      temporalLog[message === EXPECTED ? 'debug' : level](meta, message);
    };
  const [debug, warn, error] = [write('debug'), write('warn'), write('error')];
  return {
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => (level === 'ERROR' ? error : level === 'WARN' ? warn : debug)(message, meta),
      trace: debug,
      debug,
      info: debug,
      warn,
      error,
    },
  };
}
