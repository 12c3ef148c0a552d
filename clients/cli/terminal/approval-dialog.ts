import { parseJsonObject } from '../../../contract/json-object.ts';
import type { Interrupt } from '../../typescript/resources.ts';
import type { Dialog, Reply } from './dialog.ts';

const WORDS: Readonly<Record<string, string>> = {
  a: 'approve',
  y: 'approve',
  yes: 'approve',
  approve: 'approve',
  always: 'always',
  e: 'edit',
  edit: 'edit',
  r: 'reject',
  n: 'reject',
  no: 'reject',
  reject: 'reject',
};
const LABELS: Readonly<Record<string, string>> = {
  approve: '[a]pprove',
  always: 'approve [always]',
  edit: '[e]dit',
  reject: '[r]eject',
};
const SHOWN_CHARS = 4_000;

/** Asks whether a tool call may be made: yes, with other arguments, or no, and why. */
export class ApprovalDialog implements Dialog {
  readonly #interrupt: Interrupt;
  #isEditing = false;

  constructor(interrupt: Interrupt) {
    this.#interrupt = interrupt;
  }

  intro(): readonly string[] {
    const { tool_name: tool, prompt, arguments: args } = this.#interrupt;
    const text = JSON.stringify(args, null, 2) ?? '';
    const cut = text.length - SHOWN_CHARS;
    const shown = cut <= 0 ? text : `${text.slice(0, SHOWN_CHARS)}\n… and ${String(cut)} characters more`;
    return [`? ${tool ?? 'A call'} asks for approval: ${prompt}`, shown];
  }

  prompt(): string {
    if (this.#isEditing) return 'arguments as JSON (empty: back) ';
    const offered = this.#interrupt.options.flatMap((option) => LABELS[option] ?? []);
    return `${offered.join(' / ')} / [l]ater ? `;
  }

  draft(): string | null {
    return this.#isEditing ? JSON.stringify(this.#interrupt.arguments) : null;
  }

  take(line: string): Reply {
    if (this.#isEditing) return this.#edited(line.trim());
    const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
    if (word === 'l' || word === 'later') return { later: true };
    const option = WORDS[word.toLowerCase()];
    // "a" approves; a sentence that begins with it does not
    const isSaid = rest === '' || option === 'edit' || option === 'reject';
    if (option === undefined || !isSaid || !this.#interrupt.options.includes(option)) {
      return { say: `Answer with ${this.#interrupt.options.join(', ')}, or later.` };
    }
    switch (option) {
      case 'edit':
        if (rest !== '') return this.#edited(rest);
        this.#isEditing = true;
        return { say: null };
      case 'reject':
        return { decision: { decision: 'reject', ...(rest === '' ? {} : { message: rest }) } };
      case 'always':
        return { decision: { decision: 'always' } };
      default:
        return { decision: { decision: 'approve' } };
    }
  }

  #edited(text: string): Reply {
    if (text === '') {
      this.#isEditing = false;
      return { say: null };
    }
    const args = parseJsonObject(text);
    if (args === null) return { say: 'That is no JSON object.' };
    return { decision: { decision: 'edit', edited_args: args } };
  }
}
