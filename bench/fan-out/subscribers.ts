// Holds the subscribers, in a process of their own: neither the one who appends nor the gateway pays for reading.
import type { SubscriberOrder, SubscriberReport } from './protocol.ts';
import { Subscriber } from './subscriber.ts';

/** At once, so that no accept queue runs over. */
const CONNECT_TOGETHER = 50;

let subscribers: Subscriber[] = [];

process.on('message', (order: SubscriberOrder) => {
  void carryOut(order).then((report) => process.send?.(report));
});
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
process.send?.({ type: 'ready' });

async function carryOut(order: SubscriberOrder): Promise<SubscriberReport> {
  switch (order.do) {
    case 'connect':
      await connectAll(order);
      break;
    case 'begin':
      for (const subscriber of subscribers) subscriber.begin();
      break;
    case 'disconnect':
      for (const subscriber of subscribers) subscriber.close();
      subscribers = [];
      break;
    case 'report':
      break;
  }
  return {
    connected: subscribers.length,
    cut: subscribers.filter(({ isCut }) => isCut).length,
    bytes: subscribers.reduce((sum, { bytes }) => sum + bytes, 0),
    slowest: Math.min(...subscribers.map(({ cursor }) => cursor)),
    seen: subscribers.flatMap(({ seen }) => seen),
    gaps: subscribers.reduce((sum, { gaps }) => sum + gaps, 0),
  };
}

async function connectAll({ url, count, sampled }: Extract<SubscriberOrder, { do: 'connect' }>): Promise<void> {
  const every = Math.max(1, Math.floor(count / sampled));
  for (let from = 0; from < count; from += CONNECT_TOGETHER) {
    const size = Math.min(CONNECT_TOGETHER, count - from);
    const opened = Array.from({ length: size }, (_, i) => Subscriber.open(url, (from + i) % every === 0));
    subscribers.push(...(await Promise.all(opened)));
  }
}
