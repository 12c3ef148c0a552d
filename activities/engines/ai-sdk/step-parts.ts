import type { CanonicalBody } from '../../../contract/canonical.ts';
import { previewText } from '../../../contract/frames.ts';
import { PREVIEW_LIMIT_CHARS } from '../../../contract/platform-frames.ts';
import { cutShort } from '../hosted/cut-short.ts';
import { withTokens, type Tokens } from '../hosted/tokens.ts';
import { CallWarning, StepFinish, StepStart, type Usage } from './parts.ts';
import { textsOver } from './text-parts.ts';
import { saying, unknown, type AiSdkState, type Step } from './translation-state.ts';

const WARNINGS_REMEMBERED = 50;

/** A model call begins. What the provider warns of comes with each call and is said with the first. */
export function stepStarted(state: AiSdkState, part: unknown): Step {
  const start = StepStart.safeParse(part).data;
  if (start === undefined) return unknown(state);
  const texts = start.warnings.map(warningText).filter((message) => message !== '');
  const fresh = [...new Set(texts)].filter((message) => !state.warned.includes(message));
  const { state: next, bodies } = textsOver(state);
  const warned = [...state.warned, ...fresh].slice(-WARNINGS_REMEMBERED);
  const said = fresh.map((message): CanonicalBody => {
    return { kind: 'harness.warning', message, rawEventType: 'start-step', code: 'model_warning' };
  });
  return saying({ ...next, warned }, [...bodies, ...said], 'bookkeeping of a model call');
}

/** A model call is over: what the run has used so far, and which model it was. */
export function stepFinished(state: AiSdkState, part: unknown): Step {
  const finish = StepFinish.safeParse(part).data;
  if (finish === undefined) return unknown(state);
  const { finishReason, usage, response } = finish;
  const { state: closed, bodies } = textsOver(state);
  const used = usage == null ? state.used : withTokens(state.used, tokensOf(usage));
  const model = response.modelId ?? state.model;
  const modes: CanonicalBody[] = model === null || model === state.model ? [] : [{ kind: 'mode.updated', model }];
  const usages: CanonicalBody[] = used === state.used ? [] : [{ kind: 'usage.updated', ...used }];
  const cut = cutShort(finishReason, 'finish-step');
  return saying({ ...closed, used, model }, [...bodies, ...modes, ...usages, ...cut], 'a model call without a count');
}

function warningText(raw: unknown): string {
  const warning = CallWarning.safeParse(raw).data;
  if (warning === undefined) return '';
  const { feature, setting, message, details } = warning;
  const subject = feature ?? setting;
  const text = message ?? details ?? (subject == null ? warning.type : `${warning.type}: ${subject}`);
  return previewText(text, PREVIEW_LIMIT_CHARS);
}

function tokensOf({ inputTokens, outputTokens, cachedInputTokens, inputTokenDetails }: Usage): Tokens {
  return { inputTokens, outputTokens, cachedInputTokens: cachedInputTokens ?? inputTokenDetails.cacheReadTokens };
}
