import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { TABLE_LIMITS, type ToolFacts } from './acp-state.ts';
import { ToolUpdate, type Kept } from './acp-schema.ts';
import { entryOf, withEntry } from '../bounded-table.ts';
import { sayChildEnd, sayChildStart } from './child-tools.ts';
import { fileChanged, filesOf, locatedFiles, mergedFiles } from './file-changes.ts';
import { planOfInput } from './plans.ts';
import type { Scribe, Speaker } from './scribe.ts';
import { sayTerminalOutput } from './terminals.ts';
import { closeText } from './texts.ts';
import { endedFacts, isBeingWritten, mergedFacts } from './tool-facts.ts';
import { outputPreview } from './tool-output.ts';

/**
 * Says what a frame about a tool call tells: `tool_call`, `tool_call_update` and the request for a permission, which for Gemini
 * is the first that is heard of the call.
 *
 * **Contract:** a call is started once, with its whole input where the engine writes it piece by piece, and completed at most
 * once; a file is changed once a call, when the call succeeds.
 */
export function sayToolUpdate(
  scribe: Scribe,
  speaker: Speaker,
  update: ToolUpdate,
  from: { readonly kept: Kept; readonly isRequest: boolean },
): string {
  const id = update.toolCallId;
  const known = entryOf(scribe.state.tools, id);
  if (known?.phase === 'done') {
    sayTerminalOutput(scribe, speaker, update);
    return 'of a tool that has ended';
  }
  if (known === undefined && scribe.state.turn !== 'open') return 'a tool outside of the turn';
  if (known === undefined) closeText(scribe, speaker);
  if (from.isRequest) startHeldTools(scribe, id);

  const files = filesOf(update, from.kept, scribe.state.cwd);
  const merged = mergedFacts(known, update, speaker.child);
  let facts: ToolFacts = { ...merged, files: mergedFiles(merged.files, files) };
  const isFirst = facts.phase === 'held';
  if (isFirst && !from.isRequest && isStillHeld(known, update)) {
    rememberTool(scribe, id, facts);
    return 'a tool call is said when its input is known';
  }
  if (isFirst) facts = start(scribe, speaker, id, facts, update.status);
  // a request shows the input its own way, which is no progress of the call
  else if (from.isRequest && known !== undefined) facts = { ...facts, input: known.input };
  else facts = progressed(scribe, speaker, update, facts, known);
  facts = sayPlan(scribe, speaker, facts, update.rawInput);
  facts = sayChildStart(scribe, speaker, { id, facts, update });
  sayTerminalOutput(scribe, speaker, update);
  rememberTool(scribe, id, facts);
  if (update.status === 'completed' || update.status === 'failed')
    end(scribe, speaker, { id, facts, update, kept: from.kept });
  return from.isRequest ? 'the platform says what is asked and answered' : 'nothing new of a tool';
}

/** Starts what is held: the engine has gone on, so the input is whole. */
export function startHeldTools(scribe: Scribe, exceptId?: string): void {
  for (const [id, facts] of scribe.state.tools) {
    if (facts.phase !== 'held' || id === exceptId) continue;
    const speaker = facts.owner === null ? scribe.self : scribe.childSpeaker(facts.owner);
    const started = start(scribe, speaker, id, facts, null);
    rememberTool(
      scribe,
      id,
      sayChildStart(scribe, speaker, { id, facts: started, update: ToolUpdate.parse({ toolCallId: id }) }),
    );
  }
}

function isStillHeld(known: ToolFacts | undefined, update: ToolUpdate): boolean {
  if (known === undefined) return isBeingWritten(update);
  return update.status == null && update['_meta']?.claudeCode?.toolResponse === undefined;
}

function start(
  scribe: Scribe,
  speaker: Speaker,
  toolCallId: string,
  facts: ToolFacts,
  status: string | null | undefined,
): ToolFacts {
  scribe.say(speaker, {
    kind: 'tool.started',
    toolCallId,
    name: facts.name,
    ...(facts.title === null || facts.title === facts.name ? {} : { title: previewText(facts.title, 500) }),
    ...(facts.input === null ? {} : { input: facts.input }),
    ...(status == null ? {} : { nativeStatus: status }),
  });
  return { ...facts, phase: 'open', status: status ?? null };
}

/** A step of a running call, if it shows something that was not shown. */
function progressed(
  scribe: Scribe,
  speaker: Speaker,
  update: ToolUpdate,
  facts: ToolFacts,
  known: ToolFacts | undefined,
): ToolFacts {
  const { toolCallId, status } = update;
  if (status === 'completed' || status === 'failed') return facts;
  const isNewInput = JSON.stringify(facts.input) !== JSON.stringify(known?.input);
  const output = outputPreview(update);
  const preview = output === '' && isNewInput ? previewText(JSON.stringify(facts.input), PREVIEW_LIMIT_CHARS) : output;
  const isNewStatus = status != null && status !== facts.status;
  const isNewPreview = preview !== '' && preview !== facts.shown;
  if (!isNewStatus && !isNewPreview) return facts;
  scribe.say(speaker, {
    kind: 'tool.progress',
    toolCallId,
    ...(isNewPreview ? { preview } : {}),
    ...(status == null ? {} : { nativeStatus: status }),
  });
  return { ...facts, status: status ?? facts.status, shown: isNewPreview ? preview : facts.shown };
}

function sayPlan(scribe: Scribe, speaker: Speaker, facts: ToolFacts, rawInput: unknown): ToolFacts {
  const plan = planOfInput(rawInput);
  const text = plan === null ? '' : JSON.stringify(plan.entries);
  if (plan === null || text === facts.plan) return facts;
  scribe.say(speaker, plan);
  return { ...facts, plan: text };
}

interface Ending {
  readonly id: string;
  readonly facts: ToolFacts;
  readonly update: ToolUpdate;
  readonly kept: Kept;
}

function end(scribe: Scribe, speaker: Speaker, ending: Ending): void {
  const { id, kept } = ending;
  if (kept.output !== undefined) scribe.say(speaker, { kind: 'artifact.created', ...kept.output });
  scribe.say(speaker, completed(ending));
  sayFiles(scribe, speaker, ending);
  sayChildEnd(scribe, speaker, ending);
  rememberTool(scribe, id, endedFacts(ending.facts));
  if (scribe.state.tools.every(([, { phase }]) => phase === 'done')) scribe.remember({ looseWrites: [] });
}

function completed({ id: toolCallId, update, kept }: Ending): CanonicalBody {
  const preview = outputPreview(update);
  const exitCode = update['_meta']?.terminal_exit?.exit_code;
  const beside = {
    ...(kept.output === undefined ? {} : { artifact: kept.output.artifact }),
    ...(exitCode == null ? {} : { nativeStatus: `exit ${String(exitCode)}` }),
  };
  if (update.status === 'failed') {
    const error = preview === '' ? 'the tool failed' : preview;
    return { kind: 'tool.completed', toolCallId, status: 'error', error, ...beside };
  }
  return { kind: 'tool.completed', toolCallId, status: 'ok', ...(preview === '' ? {} : { preview }), ...beside };
}

/** A call that failed changed only what it had already written through us. */
function sayFiles(scribe: Scribe, speaker: Speaker, { facts, update }: Ending): void {
  const { cwd, looseWrites } = scribe.state;
  const located = facts.files.length > 0 ? facts.files : locatedFiles(facts.kind, update.locations, cwd);
  for (const file of located) {
    const isChanged = update.status === 'completed' || facts.written.includes(file.path);
    if (isChanged && !looseWrites.includes(file.path)) scribe.say(speaker, fileChanged(file));
  }
}

function rememberTool(scribe: Scribe, id: string, facts: ToolFacts): void {
  scribe.remember({ tools: withEntry(scribe.state.tools, id, facts, TABLE_LIMITS.tools) });
}
