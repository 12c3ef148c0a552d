import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ToolRecord } from '../../../../contract/extensions/register-kinds.ts';
import { AgentToolResult } from '../../../../contract/agent-messages.ts';
import { shownSchema } from '../tools/schema/shown-schema.ts';
import { argumentCheck } from '../tools/schema/argument-check.ts';
import { failed, oneLine, type ExecutableTool } from '../tools/tool.ts';
import { invalidArguments, type Validated } from '../tools/validated.ts';

/** Of a failure's text, what the model is told. */
const FAULT_CHARS = 500;

/**
 * A tool that an extension registered, as the loop runs it.
 *
 * **Contract:** as that of `ExecutableTool`. A schema that cannot be compiled leaves the tool in the list and refuses its
 * calls; schema keywords that nobody knows are ignored, and told to `warn` once.
 */
export function toolOfRecord(record: ToolRecord, warn: (what: string) => void): ExecutableTool {
  const { name, description, label = name, approval = 'never' } = record;
  const validate = validatorOf(record, warn);
  return {
    kind: 'execute',
    name,
    description,
    parameters: shownSchema(record.parameters),
    label,
    approval,
    repeatable: record.repeatable ?? false,
    parallelSafe: record.parallelSafe ?? false,
    validate,
    describe: (args) => oneLine(`${label}: ${JSON.stringify(args)}`),
    async execute(args, { agent, toolCallId, workspace, signal }) {
      signal.throwIfAborted();
      try {
        const context = { agent, toolCallId, workspace, signal };
        const result = await record.execute(args as Readonly<Record<string, unknown>>, context);
        signal.throwIfAborted();
        return resultOf(name, result);
      } catch (error) {
        signal.throwIfAborted();
        const reason = error instanceof Error ? error.message : String(error);
        return failed(`tool ${name} failed: ${(reason.split('\n', 1)[0] ?? '').slice(0, FAULT_CHARS).toWellFormed()}`);
      }
    },
  };
}

function resultOf(name: string, result: unknown): AgentToolResult {
  const parsed = AgentToolResult.safeParse(result);
  if (parsed.success) return parsed.data;
  const [fault] = parsed.error.issues;
  return failed(
    `tool ${name} failed: its result is not what a tool gives: ${fault?.path.join('.') ?? ''} ${fault?.message ?? ''}`,
  );
}

function validatorOf({ name, parameters }: ToolRecord, warn: (what: string) => void): (args: unknown) => Validated {
  for (const keyword of unknownKeywords(parameters)) warn(`the schema of the tool ${name}: ${keyword}`);
  const check = argumentCheck(parameters);
  if (check === null) {
    warn(`the schema of the tool ${name} cannot be used`);
    const error = `error: the tool ${name} cannot be called: its schema is invalid`;
    return () => ({ ok: false, kind: 'invalid-tool-schema', error });
  }
  return (args) => {
    const faults = check(args).map(({ path, message }) => `${path.join('.') || 'arguments'} ${message}`);
    return faults.length > 0
      ? invalidArguments(name, faults)
      : { ok: true, args: args as Readonly<Record<string, unknown>> };
  };
}

/** What of a schema is ignored, in words: a keyword that nobody knows must not fail every call. */
function unknownKeywords(schema: Readonly<Record<string, unknown>>): string[] {
  const unknown: string[] = [];
  const logger = { log: () => undefined, warn: (what: unknown) => unknown.push(String(what)), error: () => undefined };
  try {
    const { $schema: _, ...bare } = schema;
    new Ajv2020({
      strictSchema: 'log',
      strictTypes: false,
      strictTuples: false,
      strictRequired: false,
      logger,
    }).compile(bare);
  } catch {
    // said where it is compiled for use
  }
  return unknown;
}
