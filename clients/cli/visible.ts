import { cleanText } from '../../contract/sanitize.ts';

/** What turns the direction of the text around it, so that a line reads as another one than it is. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of others as a terminal may show it: no control sequence of it is carried out, nothing in it hides what stands before
 * or turns it around. Its pictures take their place.
 */
export function visible(text: string): string {
  return cleanText(text.replaceAll('\r\n', '\n')).replaceAll('\r', '\u240d').replaceAll(TURNS, '\ufffd');
}
