import type { AssistantMessage, Usage } from '../../../contract/agent-messages.ts';
import type { ModelPrice } from '../../../infra/model-settings.ts';

const MILLION = 1_000_000;

/** An answer with what it has cost; as it is, where its usage or its model's price is not known. */
export function withCost(message: AssistantMessage, price: ModelPrice | undefined): AssistantMessage {
  if (price === undefined || message.usage === undefined) return message;
  return { ...message, usage: { ...message.usage, costUsd: costUsdOf(message.usage, price) } };
}

/** `input` leaves out what a cache gave and took: each counter has its own price. */
function costUsdOf({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: Usage, price: ModelPrice): number {
  const { inputPerMillion, outputPerMillion } = price;
  const { cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = price;
  const usd =
    input * inputPerMillion +
    output * outputPerMillion +
    cacheRead * cacheReadPerMillion +
    cacheWrite * cacheWritePerMillion;
  return roundUsd(usd / MILLION);
}

/** Sums of dollars without the noise of binary fractions. */
export function roundUsd(usd: number): number {
  return Number(usd.toFixed(10));
}
