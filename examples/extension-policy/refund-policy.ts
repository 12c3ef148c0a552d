import { z } from 'zod';
import { defineExtension } from '../../contract/extensions/extension.ts';

const Options = z.object({ mostCents: z.int().positive() });

/**
 * A policy of the house: no refund over a limit, whatever model or person asks for it. A hook is asked before a person is, and again when
 * a person has edited the arguments; what it throws blocks the call.
 */
export default defineExtension((api) => {
  const { mostCents } = Options.parse(api.options);
  let blocked = 0;

  api.register('hook', {
    name: 'refund limit',
    beforeTool(toolName, args) {
      const cents = args['cents'];
      if (toolName !== 'refund_order' || (typeof cents === 'number' && cents <= mostCents)) return null;
      blocked++;
      return { block: true, reason: `a refund is ${String(mostCents)} cents at most` };
    },
  });

  api.register('status', { name: 'policy', order: 50, render: () => `refunds up to ${String(mostCents)}` });
  api.register('introspect', {
    name: 'refunds',
    description: 'What the policy has blocked in this worker.',
    snapshot: () => ({ mostCents, blocked }),
  });
  api.register('command', {
    name: 'policy',
    description: 'Says what the policy is.',
    handler: () => {
      api.emit({ type: 'info', text: 'The policy is in tidemark.config.ts.' });
      return `A refund is ${String(mostCents)} cents at most.`;
    },
  });
});
