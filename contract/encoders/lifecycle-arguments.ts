import { parseJsonObject } from '../json-object.ts';

/**
 * A tool call's arguments while they stream. No event says that they are whole, but JSON does: no proper beginning of an
 * object's text is itself an object, so they are whole when the first brace is closed again.
 */
export interface ArgumentText {
  readonly text: string;
  readonly depth: number;
  readonly isInString: boolean;
  readonly isEscaped: boolean;
  readonly isWhole: boolean;
}

export const NO_ARGUMENTS: ArgumentText = { text: '', depth: 0, isInString: false, isEscaped: false, isWhole: false };

/** The arguments with one more fragment. What comes after the end of the object is left out. */
export function extendArguments(before: ArgumentText, delta: string): ArgumentText {
  if (before.isWhole || delta === '') return before;
  let { depth, isInString, isEscaped } = before;
  for (let i = 0; i < delta.length; i++) {
    const char = delta[i];
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (char === '\\') isEscaped = true;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth <= 0) {
        const text = before.text + delta.slice(0, i + 1);
        return { text, depth: 0, isInString, isEscaped, isWhole: true };
      }
    }
  }
  return { text: before.text + delta, depth, isInString, isEscaped, isWhole: false };
}

/** The arguments as an object; null while they are not one. */
export function parseArguments({ text }: ArgumentText): Readonly<Record<string, unknown>> | null {
  return parseJsonObject(text);
}

export function hasArguments(args: Readonly<Record<string, unknown>>): boolean {
  for (const key in args) if (Object.hasOwn(args, key)) return true;
  return false;
}
