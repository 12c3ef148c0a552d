import { stripVTControlCharacters } from 'node:util';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';
import { CHANGE_STATUS, READY_STATUS } from './extension/protocol.ts';
import { UiRequest } from './pi-schema.ts';
import { quiet, saying, unread, type PiState, type Step } from './translation-state.ts';

const SHOWN_CHARS = 2_000;

/** The methods that wait for an answer. */
export const DIALOGS: ReadonlySet<string> = new Set(['select', 'confirm', 'input', 'editor']);

/** What an extension shows: a dialog is the platform's to ask. */
export function extensionShown(state: PiState, frame: NativeFrame): Step {
  const request = UiRequest.safeParse(frame).data;
  if (request === undefined) return unread(state);
  if (DIALOGS.has(request.method)) return quiet(state, 'the platform asks');
  switch (request.method) {
    case 'notify':
      return saying(state, [notice(request)]);
    case 'setStatus':
      if (request.statusKey === READY_STATUS) return quiet(state, "the platform's own extension is there");
      if (request.statusKey === CHANGE_STATUS) return quiet(state, 'the end of the tool says it');
      return saying(state, [metadata({ status: { [request.statusKey]: shownOrNull(request.statusText) } })]);
    case 'setWidget':
      return saying(state, [
        metadata({ widget: { [request.widgetKey]: shownOrNull(request.widgetLines?.join('\n')) } }),
      ]);
    case 'setTitle':
      return saying(state, [metadata({ terminalTitle: shown(request.title) })]);
    case 'set_editor_text':
      return quiet(state, 'there is no editor here');
    default:
      return unread(state);
  }
}

function notice({ message, notifyType }: UiRequest): CanonicalBody {
  const isFault = notifyType === 'warning' || notifyType === 'error';
  if (!isFault) return metadata({ notice: shown(message) });
  return { kind: 'harness.warning', message: shown(message) || notifyType, rawEventType: 'notify' };
}

function metadata(facts: Record<string, unknown>): CanonicalBody {
  return { kind: 'session.metadata', metadata: facts };
}

/** Extensions colour what they show. */
function shown(text: string): string {
  return previewText(stripVTControlCharacters(text), SHOWN_CHARS);
}

function shownOrNull(text: string | null | undefined): string | null {
  return text == null ? null : shown(text);
}
