import type { Request } from 'express';
import type { z } from 'zod';
import { TidemarkError } from '../contract/errors.ts';

/** The request's JSON body, held against its schema. */
export function bodyOf<S extends z.ZodType>(req: Request, schema: S): z.output<S> {
  return parse(schema, req.body ?? {}, 'body');
}

/** The request's query, held against its schema: a parameter given twice or not known is refused. */
export function queryOf<S extends z.ZodType>(req: Request, schema: S): z.output<S> {
  return parse(schema, { ...req.query }, 'query');
}

function parse<S extends z.ZodType>(schema: S, value: unknown, where: 'body' | 'query'): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : null;
  const field = unknown ?? (issue?.path ?? []).map(String).join('.');
  const what =
    unknown === null ? `${field === '' ? where : field}: ${issue?.message ?? 'invalid'}` : `unknown field: ${unknown}`;
  throw new TidemarkError('invalid_request', what, `Correct the ${where}; its fields are in docs/protocol.md.`, {
    facts: { field, in: where },
  });
}

/** A path parameter, as text. */
export function pathOf(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === 'string' ? value : '';
}
