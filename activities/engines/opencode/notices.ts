import { z } from 'zod';
import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText, type NativeFrame } from '../../../contract/frames.ts';

const SHOWN_CHARS = 2_000;
const words = z.string().nullish().catch(null);

/** The fields of all that warns; each has some of them. */
const Notice = z.object({ title: words, message: words, variant: words, mcpName: words });
const SERIOUS: ReadonlySet<string> = new Set(['warning', 'error']);

/** What the engine warns of, that the turn survives; null for a frame that is no notice. */
export function noticeOf(frame: NativeFrame): CanonicalBody[] | null {
  const notice = Notice.safeParse(frame['params'] ?? {}).data;
  if (notice === undefined) return null;
  const { title, message, variant, mcpName } = notice;
  switch (frame.type) {
    case 'tui.toast.show':
      return SERIOUS.has(variant ?? '') ? warning(frame, told([title, message])) : [];
    case 'workspace.failed':
    case 'worktree.failed':
      return warning(frame, told([message]));
    case 'mcp.browser.open.failed':
      return warning(frame, `the MCP server ${mcpName ?? ''} wants a browser to sign in`);
    case 'message.removed':
    case 'message.part.removed':
      return warning(frame, 'the engine took a part of the conversation back');
    case 'events.missed':
      return warning(frame, told([message]));
    default:
      return null;
  }
}

function told(texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => text != null && text !== '').join(': ');
}

function warning(frame: NativeFrame, text: string): CanonicalBody[] {
  const message = text === '' ? frame.type : previewText(text, SHOWN_CHARS);
  return [{ kind: 'harness.warning', message, rawEventType: frame.type }];
}
