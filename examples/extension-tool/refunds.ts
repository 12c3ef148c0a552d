import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineExtension } from '../../contract/extensions/extension.ts';

const Refund = z.strictObject({
  order: z.string().min(1).max(40).describe('The number of the order.'),
  cents: z.int().positive().describe('What is given back, in cents.'),
});

/**
 * A tool that a person approves before each call: it gives a customer money back. The ledger is a file of the thread's workspace.
 * Without `repeatable` it is run at most once, whatever dies: a second refund would be real.
 */
export default defineExtension((api) => {
  api.register('tool', {
    name: 'refund_order',
    label: 'Refund',
    description: 'Gives a customer money back for an order. Use it only when the customer asked for it.',
    parameters: z.toJSONSchema(Refund),
    approval: 'always',
    async execute(args, { workspace }) {
      const { order, cents } = Refund.parse(args);
      await mkdir(workspace, { recursive: true });
      await appendFile(join(workspace, 'ledger.txt'), `${order} ${String(cents)}\n`);
      return {
        content: [{ type: 'text', text: `Refunded ${String(cents)} cents for order ${order}.` }],
        isError: false,
      };
    },
  });
});
