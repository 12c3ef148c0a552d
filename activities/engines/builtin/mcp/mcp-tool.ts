import { McpError } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerSettings } from '../../../../infra/mcp-settings.ts';
import { failed, oneLine, type ExecutableTool, type ToolContext, type ToolOutcome } from '../tools/tool.ts';
import { invalidArguments, type Validated } from '../tools/validated.ts';
import { argumentCheck, isSchema, type ArgumentCheck } from '../tools/schema/argument-check.ts';
import type { ListedTool } from './catalogue.ts';
import { McpFault } from './mcp-fault.ts';
import { isTimeout, type ToolRequest } from './session.ts';
import { ANY_ARGUMENTS, shownSchema } from '../tools/schema/shown-schema.ts';
import { outcomeOf, type CallAnswer } from './tool-outcome.ts';

/** Of what a server says about a call that it refused. */
const REFUSAL_CHARS = 2_000;

/** Of what a server says about how far a call is, as many lines are shown. */
const PROGRESS_LINES = 200;

export type CallTool = (request: ToolRequest) => Promise<CallAnswer>;

/**
 * A server's tool as one of the built-in engine's.
 *
 * **Contract:** a schema that cannot be used is seen at the first call, which is refused; the tool stays. What the server says of
 * itself decides nothing that the settings do not let it decide.
 */
export function mcpTool(
  server: { readonly name: string; readonly settings: McpServerSettings; readonly call: CallTool },
  listed: ListedTool,
): ExecutableTool {
  const { name, toolName, inputSchema, isReadOnly, isIdempotent } = listed;
  const { approval, trustAnnotations } = server.settings;
  let compiled: { readonly check: ArgumentCheck } | null = null;
  const validate = (args: unknown): Validated => {
    compiled ??= { check: argumentCheck(inputSchema) };
    return validated(name, compiled.check, args);
  };
  return {
    kind: 'execute',
    name,
    label: `${server.name}: ${oneLine(listed.title)}`,
    description: listed.description === '' ? `The tool ${oneLine(toolName)} of ${server.name}.` : listed.description,
    parameters: isSchema(inputSchema) ? shownSchema(inputSchema) : ANY_ARGUMENTS,
    approval: approval === 'unless-read-only' ? (isReadOnly ? 'never' : 'always') : approval,
    repeatable: trustAnnotations && (isReadOnly || isIdempotent),
    parallelSafe: trustAnnotations && isReadOnly,
    validate,
    describe: (args) => oneLine(`${server.name}: ${toolName} ${JSON.stringify(args)}`),
    async execute(args, context) {
      context.signal.throwIfAborted();
      const checked = validate(args);
      if (!checked.ok) return { ...failed(checked.error.replace(/^error: /, '')), details: { kind: checked.kind } };
      return await called(server, { name, toolName, args: checked.args }, context);
    },
  };
}

function validated(name: string, check: ArgumentCheck, args: unknown): Validated {
  if (check === null) {
    const error = `error: ${name} cannot be called: its server describes its arguments by a schema that cannot be used`;
    return { ok: false, kind: 'invalid-tool-schema', error };
  }
  const faults = check(args).map(
    ({ path, message }) => `${path.length === 0 ? 'arguments' : path.join('.')} ${message}`,
  );
  if (faults.length > 0) return invalidArguments(name, faults);
  return { ok: true, args: args as Readonly<Record<string, unknown>> };
}

async function called(
  { name: server, settings, call }: { name: string; settings: McpServerSettings; call: CallTool },
  { name, toolName, args }: { name: string; toolName: string; args: Readonly<Record<string, unknown>> },
  { signal, print, artifactIdOf, limits }: ToolContext,
): Promise<ToolOutcome> {
  try {
    const answer = await call({ toolName, args, signal, onProgress: printer(print) });
    return outcomeOf(answer, { artifactIdOf, artifactBytes: limits.artifactBytes });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof McpFault) {
      const known = error.isUndelivered ? 'the tool was not run' : 'whether the tool took effect is unknown';
      return failed(`the MCP server ${server} is not available (${error.message}); ${known}`);
    }
    if (!(error instanceof McpError))
      return failed(`tool ${name} failed: the MCP server ${server} gave no readable answer`);
    if (isTimeout(error)) {
      const within = `${String(settings.timeoutSeconds)} s`;
      return failed(
        `the MCP server ${server} did not answer within ${within}; whether the tool took effect is unknown`,
      );
    }
    const said = error.message
      .replace(/^MCP error -?\d+: /, '')
      .slice(0, REFUSAL_CHARS)
      .toWellFormed();
    return failed(`tool ${name} failed: ${said}`);
  }
}

/** Shows how far a call is, a line each time, up to a limit. */
function printer(print: (text: string) => void): ToolRequest['onProgress'] {
  let lines = 0;
  return ({ progress, total, message = '' }) => {
    if (++lines > PROGRESS_LINES) return;
    const count = total === undefined ? String(progress) : `${String(progress)}/${String(total)}`;
    print(`${oneLine(`${count} ${message}`)}\n`);
  };
}
