import { env } from 'node:process';
import { tool } from '@langchain/core/tools';
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { HostedAgentContext } from '../../activities/engines/hosted/agent-context.ts';

/** What an approval is answered with, as the human in the loop of LangChain has it. */
type Decision =
  | { readonly type: 'approve' }
  | {
      readonly type: 'edit';
      readonly editedAction: { readonly args: { readonly order: string; readonly cents: number } };
    }
  | { readonly type: 'reject'; readonly message?: string };

/**
 * A graph of LangGraph that gives refunds. Each one is approved by a person, who may lower it, and for a refund without a reason the
 * person is asked for one.
 */
export default function refundGraph({ model }: HostedAgentContext) {
  const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey = '' } = env;
  const chat = new ChatOpenAI({ model: model ?? 'gpt-5-mini', apiKey, configuration: { baseURL } }).bindTools([refund]);
  // no checkpointer: Tidemark keeps the threads of a graph that has none
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await chat.invoke(messages)] }))
    .addNode('tools', new ToolNode([refund]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile();
}

const refund = tool(
  ({ order, cents, reason }) => {
    const why =
      reason ?? interrupt<unknown, string>({ question: `Why is ${order} refunded?`, options: ['late', 'broken'] });
    const action = {
      name: 'refund',
      args: { order, cents },
      description: `Refund ${String(cents)} cents of ${order} (${why})`,
    };
    const { decisions } = interrupt<unknown, { decisions: readonly Decision[] }>({
      actionRequests: [action],
      reviewConfigs: [{ actionName: 'refund', allowedDecisions: ['approve', 'edit', 'reject'] }],
    });
    const [decision] = decisions;
    if (decision === undefined || decision.type === 'reject')
      return `No refund: ${decision?.message ?? 'not approved'}`;
    const given = decision.type === 'edit' ? decision.editedAction.args : action.args;
    return `Refunded ${String(given.cents)} cents of ${given.order} (${why})`;
  },
  {
    name: 'refund',
    description: 'Refunds an order, in cents.',
    schema: z.object({ order: z.string(), cents: z.int(), reason: z.string().optional() }),
  },
);
