import { z } from 'zod';
import * as limit from './lifecycle-limits.ts';
import { hasControlCharacter, isCleanText, jsonProblem } from './sanitize.ts';

/** An opaque id: any visible text, no line breaks. */
export const Id = z
  .string()
  .min(1)
  .max(limit.ID_LIMIT_CHARS)
  .refine((text) => text.isWellFormed() && !hasControlCharacter(text), 'holds a control character or a lone surrogate');

const clean = (max: number) => z.string().max(max).refine(isCleanText, 'holds a control character or a lone surrogate');

export const Code = z
  .string()
  .max(limit.CODE_LIMIT_CHARS)
  .regex(/^[a-z][a-z0-9_]*$/);
export const Name = clean(limit.NAME_LIMIT_CHARS).min(1);
export const Message = clean(limit.MESSAGE_LIMIT_CHARS);
export const Prompt = clean(limit.PROMPT_LIMIT_CHARS);
export const Delta = clean(limit.DELTA_LIMIT_CHARS);
export const ToolResult = clean(limit.TOOL_RESULT_LIMIT_CHARS);
export const MetadataText = clean(limit.METADATA_STRING_LIMIT_CHARS);
export const CountedTokens = z.int().nonnegative();

/** A bounded JSON object: a tool's arguments. */
export const JsonObject = boundedObject(
  { depth: limit.JSON_DEPTH_LIMIT, items: limit.JSON_ITEMS_LIMIT },
  limit.TOOL_ARGUMENTS_LIMIT_CHARS,
);

/** What a warning says beside its message. */
export const WarningDetails = boundedObject(
  { depth: limit.WARNING_DETAILS_DEPTH_LIMIT, items: limit.WARNING_DETAILS_ITEMS_LIMIT },
  limit.WARNING_DETAILS_LIMIT_CHARS,
);

function boundedObject(bounds: { depth: number; items: number }, maxChars: number) {
  return z.record(z.string(), z.unknown()).superRefine((value, context) => {
    const problem = jsonProblem(value, {
      ...bounds,
      keyChars: limit.JSON_KEY_LIMIT_CHARS,
      stringChars: limit.JSON_STRING_LIMIT_CHARS,
    });
    if (problem !== null) {
      context.addIssue({ code: 'custom', message: problem.reason, params: { limit: problem.isLimit } });
    } else if (JSON.stringify(value).length > maxChars) {
      const message = `is over ${String(maxChars)} characters of JSON`;
      context.addIssue({ code: 'custom', message, params: { limit: true } });
    }
  });
}
