import { textOf, type Message } from '../../../../contract/agent-messages.ts';
import { previewText } from '../../../../contract/frames.ts';

/** A tool's result or arguments are rarely worth more in a summary. */
const DETAIL_CHARS = 4_000;
const MIN_BLOCK_CHARS = 200;

/**
 * A conversation as a text to be summarised: a model that is offered no tools can be shown no calls.
 *
 * **Contract:** at most `limitChars` long: blocks are cut, all to the same length, before any is left out; then the oldest are.
 */
export function transcriptOf(messages: readonly Message[], limitChars: number): string {
  for (let blockChars = Math.max(limitChars, MIN_BLOCK_CHARS); ; blockChars = Math.floor(blockChars / 2)) {
    const text = messages.flatMap((message) => blocksOf(message, blockChars)).join('\n\n');
    if (text.length <= limitChars) return text;
    if (blockChars <= MIN_BLOCK_CHARS) return `[the beginning is left out]\n\n${endOf(text, limitChars)}`;
  }
}

function blocksOf(message: Message, blockChars: number): string[] {
  const detailChars = Math.min(DETAIL_CHARS, blockChars);
  if (message.role === 'user') return [`[user]\n${previewText(textOf(message.content), blockChars)}`];
  if (message.role === 'tool-result') {
    const what = `${message.isError ? 'error' : 'result'} of ${message.toolName}`;
    return [`[${what}]\n${previewText(textOf(message.content), detailChars)}`];
  }
  if (message.stopReason === 'error') return [];
  return message.content.flatMap((block) => {
    if (block.type === 'text') return block.text === '' ? [] : [`[agent]\n${previewText(block.text, blockChars)}`];
    if (block.type === 'thinking') return [];
    return [`[agent calls ${block.name}]\n${previewText(JSON.stringify(block.arguments), detailChars)}`];
  });
}

/** The end of a text, from a block's beginning where one is in it. */
function endOf(text: string, limitChars: number): string {
  const end = text.slice(text.length - Math.max(limitChars - 40, 0));
  const block = end.indexOf('\n\n[');
  return (block === -1 ? end : end.slice(block + 2)).toWellFormed();
}
