import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { boundedPattern } from './bounded-pattern.ts';

/** One argument at fault: `path` is empty for the arguments as a whole. */
export interface ArgumentFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** Checks a call's arguments; null for a schema that cannot be used. */
export type ArgumentCheck = ((args: unknown) => readonly ArgumentFault[]) | null;

/** Nothing of a server's schema is fetched, kept for another one, or woven into code over and over. */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  inlineRefs: false,
  logger: false,
  code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
};

/** Whether a schema is one by the rules of its dialect; what it refers to is not looked at. */
export function isSchema(schema: Readonly<Record<string, unknown>>): boolean {
  try {
    const { $schema: _, ...bare } = schema;
    return ajvOf(schema).validateSchema(bare) === true;
  } catch {
    return false;
  }
}

/** Compiles a server's schema, JSON Schema 2020-12 unless it says draft-07. */
export function argumentCheck(schema: Readonly<Record<string, unknown>>): ArgumentCheck {
  try {
    // a dialect that nobody knows is read as the newest
    const { $schema: _, $id: __, ...bare } = schema;
    const validate = ajvOf(schema).compile(bare);
    return (args) => (validate(args) === true ? [] : (validate.errors ?? []).map(faultOf));
  } catch {
    return null;
  }
}

function ajvOf({ $schema: dialect }: Readonly<Record<string, unknown>>): Ajv {
  const isOld = typeof dialect === 'string' && /draft-0[467]/.test(dialect);
  return isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);
}

function faultOf({ instancePath, keyword, params, message = 'is not right' }: ErrorObject): ArgumentFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const named =
    (params as Record<string, unknown>)['missingProperty'] ?? (params as Record<string, unknown>)['additionalProperty'];
  if (typeof named !== 'string') return { path, message };
  return { path: [...path, named], message: keyword === 'required' ? 'is required' : 'is not allowed' };
}
