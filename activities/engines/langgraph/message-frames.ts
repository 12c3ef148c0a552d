import { z } from 'zod';
import type { NativeFrame } from '../../../contract/frames.ts';
import { childrenInPlaceEnded, childSeen } from './children.ts';
import { messageOf, type LcMessage } from './lc-messages.ts';
import { messageWhole, modelNamed, pieceWritten, usageCounted } from './said-messages.ts';
import type { Scribe } from './scribe.ts';
import { placeOf, speakerAt, type Speaker } from './speakers.ts';
import { resultWritten } from './tool-calls.ts';

const text = z.string().catch('');
const Metadata = z
  .object({ ls_model_name: text, lc_source: text, langgraph_checkpoint_ns: text })
  .catch({ ls_model_name: '', lc_source: '', langgraph_checkpoint_ns: '' });
type Metadata = z.infer<typeof Metadata>;
const Pair = z.tuple([z.unknown()], z.unknown());

/** Stream mode `messages`: a message or a piece of one, and where it comes from. Null for what cannot be read. */
export function translateMessages(scribe: Scribe, speaker: Speaker, frame: NativeFrame): string | null {
  const pair = Pair.safeParse(frame['chunk']).data;
  const message = messageOf(pair?.[0]);
  if (message === null) return null;
  const metadata = Metadata.parse(pair?.[1]);
  if (metadata.lc_source === 'summarization') return 'a summary that the agent writes for itself';
  switch (message.kind) {
    case 'agent':
      // a model that works inside of a call speaks in the call's place, though the graph's stream has its words
      written(scribe, speakerAt(metadata.langgraph_checkpoint_ns) ?? speaker, { message, metadata });
      return 'a piece without text';
    case 'tool':
      returned(scribe, speaker, { message, metadata, frame });
      return 'a result that was said';
    case 'removal':
    case 'other':
      return 'not the words of the agent';
  }
}

function written(
  scribe: Scribe,
  speaker: Speaker,
  { message, metadata }: { message: LcMessage; metadata: Metadata },
): void {
  const writing = { speaker, id: message.id ?? metadata.langgraph_checkpoint_ns };
  childSeen(scribe, speaker);
  modelNamed(scribe, speaker, metadata.ls_model_name);
  if (!message.isChunk) return messageWhole(scribe, writing, message);
  pieceWritten(scribe, writing, { kind: 'reasoning', text: message.reasoning });
  pieceWritten(scribe, writing, { kind: 'message', text: message.text });
  if (message.usage !== null) usageCounted(scribe, writing, message.usage);
}

/** A result comes out of the place of its call: the sub-agents in there are over. */
function returned(
  scribe: Scribe,
  speaker: Speaker,
  { message, metadata, frame }: { message: LcMessage; metadata: Metadata; frame: NativeFrame },
): void {
  const { child = null } = speakerAt(metadata.langgraph_checkpoint_ns) ?? {};
  const { isError, content: output, toolCallId: call } = message;
  if (child !== null && child !== speaker.child) {
    childrenInPlaceEnded(scribe, { place: placeOf(child), call }, { status: isError ? 'error' : 'ok', output });
  }
  resultWritten(scribe, speaker, message, frame);
}
