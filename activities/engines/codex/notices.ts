import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';

const SHOWN_CHARS = 2_000;
const words = z.string().nullish().catch(null);

/** The fields of all that warns; each has some of them. */
const Notice = z.object({
  message: words,
  summary: words,
  details: words,
  fromModel: words,
  toModel: words,
  name: words,
  error: words,
  status: words,
});

/** What the engine warns of, that the turn survives; null for a frame that is no notice. */
export function noticeOf(frame: NativeFrame): CanonicalBody[] | null {
  const parsed = Notice.safeParse(frame['params'] ?? {});
  if (!parsed.success) return null;
  const { message, summary, details, fromModel, toModel, name, error, status } = parsed.data;
  switch (frame.type) {
    case 'warning':
    case 'guardianWarning':
      return warning(frame, message);
    case 'configWarning':
    case 'deprecationNotice':
      return warning(frame, [summary, details].filter((text) => text != null && text !== '').join(': '));
    case 'windows/worldWritableWarning':
    case 'autoApprovalReview/strictReviewRequired':
      return warning(frame, frame.type);
    case 'model/rerouted':
      return [
        ...warning(frame, `the model ${fromModel ?? ''} was replaced by ${toModel ?? ''}`),
        ...(toModel == null ? [] : [{ kind: 'mode.updated', model: toModel } as const]),
      ];
    case 'mcpServer/startupStatus/updated':
      return status === 'failed' ? warning(frame, `MCP server ${name ?? ''} did not start: ${error ?? ''}`) : [];
    default:
      return null;
  }
}

function warning(frame: NativeFrame, text: string | null | undefined): CanonicalBody[] {
  const message = text == null || text === '' ? frame.type : previewText(text, SHOWN_CHARS);
  return [{ kind: 'harness.warning', message, rawEventType: frame.type }];
}
