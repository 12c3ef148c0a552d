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

/** Nothing of a foreign schema is fetched, kept for another one, or woven into code over and over. */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  inlineRefs: false,
  logger: false,
  code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
};
/** Of a schema that is one already: to compile the dialect's own schema takes longer than all the rest. */
const COMPILING: Options = { ...OPTIONS, meta: false, validateSchema: false };

interface Dialect {
  /** Made once: it keeps nothing of what it looks at. */
  readonly judge: Ajv;
  compiler(): Ajv;
}

let newest: Dialect | null = null;
let old: Dialect | null = null;

/** Whether a schema is one by the rules of its dialect; what it refers to is not looked at. */
export function isSchema(schema: Readonly<Record<string, unknown>>): boolean {
  try {
    return dialectOf(schema).judge.validateSchema(bare(schema)) === true;
  } catch {
    return false;
  }
}

/** Compiles a schema that is not the engine's own, JSON Schema 2020-12 unless it says draft-07 or an older one. */
export function argumentCheck(schema: Readonly<Record<string, unknown>>): ArgumentCheck {
  if (!isSchema(schema)) return null;
  try {
    const validate = dialectOf(schema).compiler().compile(bare(schema));
    return (args) => (validate(args) ? [] : (validate.errors ?? []).map(faultOf));
  } catch {
    return null;
  }
}

/** A dialect that nobody knows is read as the newest. */
function dialectOf({ $schema: named }: Readonly<Record<string, unknown>>): Dialect {
  const isOld = typeof named === 'string' && /draft-0[467]/.test(named);
  return isOld
    ? (old ??= { judge: new Ajv(OPTIONS), compiler: () => new Ajv(COMPILING) })
    : (newest ??= { judge: new Ajv2020(OPTIONS), compiler: () => new Ajv2020(COMPILING) });
}

function bare(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { $schema: _, $id: __, ...rest } = schema;
  return rest;
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
