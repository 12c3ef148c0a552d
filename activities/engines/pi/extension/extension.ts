import { offerQuestions } from './ask-user.ts';
import { sayFileChanges } from './file-changes.ts';
import { gateTools } from './gate.ts';
import type { PiApi } from './pi-api.ts';
import { ASK_FLAG, RUN_FLAG } from './protocol.ts';
import { markRuns } from './run-mark.ts';

/** What pi lacks to be driven here, as an extension of it: `pi --mode rpc -e extension.ts`. */
export default function tidemark(pi: PiApi): void {
  pi.registerFlag(ASK_FLAG, {
    description: 'Tools that need an approval, separated by commas',
    type: 'string',
    default: 'bash,write,edit',
  });
  pi.registerFlag(RUN_FLAG, { description: 'The run that is driven', type: 'string', default: '' });
  markRuns(pi);
  // a file is looked at when the call that changes it may run
  gateTools(pi);
  sayFileChanges(pi);
  offerQuestions(pi);
}
