import { TidemarkClient } from '../typescript/client.ts';
import { chat } from './chat.ts';
import { decide } from './commands/decide.ts';
import { follow } from './commands/follow.ts';
import { list } from './commands/list.ts';
import { cancel, verify } from './commands/run.ts';
import { readEnvironment, type Environment } from './environment.ts';
import { readInvocation, type Invocation } from './invocation.ts';
import { writeFailure, writeReport, type Report } from './report.ts';
import { ProcessSignals } from './process-signals.ts';
import type { Streams } from './streams.ts';
import { USAGE } from './usage.ts';

/** The program: reads its arguments, does what they say, and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(argv: readonly string[], streams: Streams): Promise<number> {
  // what cannot be read can still ask for JSON
  const isJson = argv.includes('--json');
  const signals = new ProcessSignals();
  try {
    const invocation = readInvocation(argv);
    if (invocation === 'help') {
      streams.output.write(USAGE);
      return 0;
    }
    return await run(invocation, { streams, environment: readEnvironment(), signals });
  } catch (error) {
    return writeFailure(streams, error, isJson);
  } finally {
    signals.stop();
  }
}

interface Surroundings {
  readonly streams: Streams;
  readonly environment: Environment;
  readonly signals: ProcessSignals;
}

async function run(invocation: Invocation, { streams, environment, signals }: Surroundings): Promise<number> {
  const { url = environment.url, json: isJson = false } = invocation.values;
  const client = new TidemarkClient({ baseUrl: url, apiKey: environment.apiKey });
  const { signal, onCtrlC } = signals;
  // a request that is waited for has nothing to put in order: Ctrl-C simply ends it
  if (invocation.command !== 'chat' && invocation.command !== 'follow') signals.stop();
  switch (invocation.command) {
    case 'chat':
      return await chat(client, invocation, { streams, environment, signal, onCtrlC });
    case 'follow':
      await follow(client, invocation, { ...streams, signal });
      return 0;
    case 'threads':
    case 'runs':
    case 'interrupts':
      return reported(await list(client, invocation));
    case 'approve':
    case 'reject':
    case 'answer':
      return reported(await decide(client, invocation));
    case 'cancel':
      return reported(await cancel(client, invocation));
    case 'verify':
      return reported(await verify(client, invocation));
  }

  function reported(report: Report): number {
    writeReport(streams, report, isJson);
    return report.exitCode ?? 0;
  }
}
