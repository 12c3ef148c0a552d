import { z } from 'zod';
import { TidemarkError } from './errors.ts';

/**
 * Holds arguments that a person edited against the tool's own JSON Schema.
 *
 * @throws TidemarkError `edited_args_invalid`, naming the field.
 */
export function checkEditedArguments(schemaText: string | null, args: Readonly<Record<string, unknown>>): void {
  if (schemaText === null) return;
  const schema = z.fromJSONSchema(JSON.parse(schemaText) as z.core.JSONSchema.JSONSchema);
  const parsed = schema.safeParse(args);
  if (parsed.success) return;
  const issue = parsed.error.issues[0];
  const field = ['edited_args', ...(issue?.path ?? [])].map(String).join('.');
  throw new TidemarkError(
    'edited_args_invalid',
    `${field}: ${issue?.message ?? 'does not fit the tool’s schema'}`,
    'Send arguments that fit the tool’s schema; the interrupt shows it.',
    { facts: { field } },
  );
}
