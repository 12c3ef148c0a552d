import { textOf, type Message, type Usage } from '../../../../contract/agent-messages.ts';
import { utf8Bytes } from '../../../../contract/frames.ts';

/** What a message costs beside its text. */
const MESSAGE_TOKENS = 4;

/** A text's tokens, about: four bytes each, which is a little much for English and a little less than true for Chinese. */
export function tokensOfText(text: string): number {
  return Math.ceil(utf8Bytes(text) / 4);
}

/** A message's tokens, about. */
export function tokensOfMessage(message: Message): number {
  if (message.role !== 'assistant') return MESSAGE_TOKENS + tokensOfText(textOf(message.content));
  return message.content.reduce((sum, block) => {
    if (block.type === 'text') return sum + tokensOfText(block.text);
    if (block.type === 'thinking') return sum + tokensOfText(block.thinking);
    return sum + tokensOfText(block.name) + tokensOfText(JSON.stringify(block.arguments));
  }, MESSAGE_TOKENS);
}

export function tokensOfMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
}

/**
 * The tokens of a prompt, about: what the provider counted for the newest answer, and an estimate of what came after it.
 * `isCurrent` says that the answer's prompt was this conversation; `besidesTokens` is what is sent beside it.
 */
export function contextTokens(
  entries: readonly { readonly message: Message; readonly isCurrent: boolean }[],
  besidesTokens: number,
): number {
  const messages = entries.map(({ message }) => message);
  const newest = entries.findLastIndex(({ message, isCurrent }) => isCurrent && countedOf(message) > 0);
  const answer = messages[newest];
  if (answer === undefined) return besidesTokens + tokensOfMessages(messages);
  return countedOf(answer) + tokensOfMessages(messages.slice(newest + 1));
}

/** What the provider counted for an answer and its prompt; 0 where it did not. */
function countedOf(message: Message): number {
  if (message.role !== 'assistant' || message.usage === undefined) return 0;
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: Usage = message.usage;
  return input + cacheRead + cacheWrite === 0 ? 0 : input + cacheRead + cacheWrite + output;
}
