import type { CanonicalBody } from '../../../contract/canonical.ts';
import { launchEnded } from './children.ts';
import { AssistantMessage, StreamEvent, UserMessage, type Block, type Kept } from './claude-schema.ts';
import { faultText } from './fault-text.ts';
import { planAfter, planCallStarted } from './plans.ts';
import { answerEnded, answerOf, answerStarted, blockEnded, blockPiece, blockStarted, blockWhole } from './texts.ts';
import { outputOf } from './tool-facts.ts';
import { toolCompleted, toolStarted } from './tools.ts';
import { quiet, saying, unread, type ClaudeState, type Saying, type Speaker, type Step } from './translation-state.ts';
import { answerCounted, usedOf } from './usage.ts';

const BEGINS_LATER = 'it begins with its first piece';
const INPUT_LATER = 'the call is told with its whole input';

/** A piece of an answer of the model, as it comes. */
export function messageStreamed(state: ClaudeState, params: unknown, speaker: Speaker): Step {
  const event = StreamEvent.safeParse(params).data?.event;
  if (event === undefined) return unread(state);
  switch (event.type) {
    case 'message_start':
      return event.message === undefined
        ? unread(state)
        : told(answerStarted(state, event.message.id, usedOf(event.message.usage), speaker), BEGINS_LATER);
    case 'content_block_start': {
      const kind = kindOf(event.content_block?.type);
      return kind === null
        ? quiet(state, INPUT_LATER)
        : told(blockStarted(state, event.index, kind, speaker), BEGINS_LATER);
    }
    case 'content_block_delta':
      return streamedPiece(state, event, speaker);
    case 'content_block_stop':
      return told(blockEnded(state, event.index, speaker), 'the block was told whole');
    case 'message_delta': {
      if (speaker.childId !== null) return quiet(state, 'what a sub-agent uses is told with the result');
      const prompt = answerOf(state, speaker)?.prompt ?? usedOf(null);
      return told(answerCounted(state, prompt, event.usage), 'no tokens were counted');
    }
    case 'message_stop':
      return told(answerEnded(state, speaker), 'all of it was told');
    case 'error':
      return saying(state, [streamBroken(event)]);
    default:
      return unread(state);
  }
}

function streamBroken({ error }: StreamEvent): CanonicalBody {
  const message = faultText(error?.message ?? '');
  return { kind: 'harness.warning', message, rawEventType: 'stream_event/error', code: 'model_failed' };
}

function streamedPiece(state: ClaudeState, { index, delta }: StreamEvent, speaker: Speaker): Step {
  if (delta === undefined) return unread(state);
  switch (delta.type) {
    case 'text_delta':
    case 'thinking_delta': {
      const kind = delta.type === 'text_delta' ? 'message' : 'reasoning';
      const text = delta.type === 'text_delta' ? delta.text : delta.thinking;
      const piece = blockPiece(state, { index, kind, text }, speaker);
      return piece === null ? unread(state) : told(piece, 'an empty piece');
    }
    case 'input_json_delta':
      return quiet(state, INPUT_LATER);
    case 'signature_delta':
    case 'citations_delta':
      return quiet(state, 'what the model needs to know its own thought again');
    default:
      return unread(state);
  }
}

function kindOf(type: string | undefined): 'message' | 'reasoning' | null {
  if (type === 'text') return 'message';
  return type === 'thinking' ? 'reasoning' : null;
}

/** A block of an answer, whole; also what the program says in its model's place. */
export function answerTold(state: ClaudeState, params: unknown, speaker: Speaker): Step {
  const parsed = AssistantMessage.safeParse(params).data;
  if (parsed === undefined) return unread(state);
  const { id: messageId, content } = parsed.message;
  const blocks = typeof content === 'string' ? [textBlock(content)] : content;
  if (parsed.is_api_error_message || parsed.error != null) return modelFailed(state, blocks, speaker);
  const bodies: CanonicalBody[] = [];
  let next = state;
  for (const block of blocks) {
    const said = blockTold(next, { messageId, block }, speaker);
    next = said.state;
    bodies.push(...said.bodies);
  }
  return saying(next, bodies, 'its pieces said it');
}

function blockTold(
  state: ClaudeState,
  { messageId, block }: { messageId: string; block: Block },
  speaker: Speaker,
): Saying {
  const { type, id: toolCallId, name, input } = block;
  const kind = kindOf(type);
  if (kind !== null) {
    return blockWhole(state, { messageId, kind, text: kind === 'message' ? block.text : block.thinking }, speaker);
  }
  if (type.endsWith('tool_use') && toolCallId !== '') {
    return { state: planCallStarted(state, { toolCallId, input }), bodies: [toolStarted(toolCallId, name, input)] };
  }
  // a tool of the model's own server has its end in the same answer
  if (type.endsWith('tool_result') && block.tool_use_id !== '') {
    return { state, bodies: toolCompleted(block, { result: null, nonExecution: null, kept: {}, cwd: state.cwd }) };
  }
  return { state, bodies: [] };
}

/** The model of the run's own agent ends the turn with its failure; that of a sub-agent does not. */
function modelFailed(state: ClaudeState, blocks: readonly Block[], { childId }: Speaker): Step {
  if (childId === null) return quiet(state, 'the turn ends with it');
  const message = faultText(blocks.map(({ text }) => text).join(' '));
  return saying(state, [{ kind: 'harness.warning', message, rawEventType: 'assistant', code: 'model_failed' }]);
}

/** What tools gave, in a message to the model. */
export function toolsEnded(state: ClaudeState, params: unknown, kept: Kept): Step {
  const parsed = UserMessage.safeParse(params).data;
  if (parsed === undefined) return unread(state);
  const { message, isReplay, tool_use_result: result, tool_result_meta: meta } = parsed;
  if (isReplay || typeof message.content === 'string') return quiet(state, 'what the agent was told');
  const results = message.content.filter(({ type, tool_use_id: id }) => type === 'tool_result' && id !== '');
  const bodies: CanonicalBody[] = [];
  let next = state;
  for (const block of results) {
    const { tool_use_id: toolCallId } = block;
    const isWell = block.is_error !== true;
    const nonExecution = meta.find(({ id }) => id === toolCallId)?.non_execution_kind ?? null;
    const plan = planAfter(next, toolCallId, isWell ? result : null);
    const launch = launchEnded(plan.state, toolCallId, { result, isWell, output: outputOf(block.content) });
    next = launch.state;
    bodies.push(
      ...toolCompleted(block, { result, nonExecution, kept, cwd: state.cwd }),
      ...plan.bodies,
      ...launch.bodies,
    );
  }
  return saying(next, bodies, 'what the program told its model');
}

function told({ state, bodies }: Saying, why: string): Step {
  return saying(state, bodies, why);
}

function textBlock(text: string): Block {
  return { type: 'text', text, thinking: '', id: '', name: '', tool_use_id: '', is_error: null };
}
