/**
 * Makes well-formed deltas of text that was cut anywhere: the first half of a surrogate pair waits for the second, and a
 * half that never gets one becomes U+FFFD. So every delta can be stored and sent as UTF-8, and joined they are the text.
 */
export class SurrogateJoiner {
  #held = '';

  push(piece: string): string {
    const text = this.#held + piece;
    const last = text.charCodeAt(text.length - 1);
    const isOpen = last >= 0xd800 && last < 0xdc00;
    this.#held = isOpen ? text.slice(-1) : '';
    return (isOpen ? text.slice(0, -1) : text).toWellFormed();
  }

  /** What is left when the text has ended. */
  end(): string {
    const rest = this.#held.toWellFormed();
    this.#held = '';
    return rest;
  }
}
