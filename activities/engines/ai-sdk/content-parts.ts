import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { keptOutput } from '../hosted/kept-output.ts';
import { shownValue } from '../hosted/shown-value.ts';
import { ModelFile, Source, Steering } from './parts.ts';
import { saying, unknown, type AiSdkState, type Step } from './translation-state.ts';

/** What the model's answer rests on. */
export function sourceNamed(state: AiSdkState, part: unknown): Step {
  const source = Source.safeParse(part).data;
  if (source === undefined) return unknown(state);
  const { id, title, url, filename } = source;
  const address = url ?? filename ?? '';
  const marker: CanonicalBody = {
    kind: 'context.marker',
    markerType: 'knowledge',
    title: previewText(title ?? (address === '' ? 'a source' : address), PREVIEW_LIMIT_CHARS),
    ...(address === '' ? {} : { detail: previewText(address, PREVIEW_LIMIT_CHARS) }),
    sourceEventType: 'source',
    sourcePayload: { id },
  };
  return saying(state, [marker]);
}

/** A file that the model made: an artifact where the driver has kept it (`kept.output`), else a reader is told that it is lost. */
export function fileMade(state: AiSdkState, frame: NativeFrame): Step {
  const made = ModelFile.safeParse(frame['part']).data;
  if (made === undefined) return unknown(state);
  const kept = keptOutput(frame);
  if (kept !== undefined) return saying(state, [{ kind: 'artifact.created', ...kept }]);
  const type = made.file.mediaType === '' ? 'of an unknown type' : `of type ${made.file.mediaType}`;
  const message = previewText(`a file ${type} that the model made was not kept`, PREVIEW_LIMIT_CHARS);
  return saying(state, [{ kind: 'harness.warning', message, rawEventType: frame.type, code: 'file_not_kept' }]);
}

/** A message that the application put into its own conversation while the agent worked. */
export function steered(state: AiSdkState, part: unknown): Step {
  const steering = Steering.safeParse(part).data;
  if (steering === undefined) return unknown(state);
  const title = 'the application added a message';
  const detail = shownValue(steering.message.content);
  const marker = { markerType: 'knowledge', title, detail, sourceEventType: 'steering-message' } as const;
  return saying(state, [{ kind: 'context.marker', ...marker }]);
}
