import { defineExtension } from '../../../contract/extensions/extension.ts';
import { jsonlPresenter } from './jsonl.ts';
import { printPresenter } from './print.ts';
import { terminalPresenter } from './terminal.ts';

/** The presenters that ship, registered as an extension's are. */
export const builtinPresenters = defineExtension((api) => {
  for (const presenter of [terminalPresenter(), printPresenter, jsonlPresenter]) api.register('presenter', presenter);
});
