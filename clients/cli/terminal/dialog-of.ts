import type { Interrupt } from '../../typescript/resources.ts';
import { ApprovalDialog } from './approval-dialog.ts';
import type { Dialog } from './dialog.ts';
import { QuestionDialog } from './question-dialog.ts';

/** The talk about an interrupt that fits its kind. */
export function dialogOf(interrupt: Interrupt): Dialog {
  return interrupt.kind === 'approval' ? new ApprovalDialog(interrupt) : new QuestionDialog(interrupt);
}
