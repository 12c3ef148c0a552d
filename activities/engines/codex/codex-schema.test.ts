import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as native from './app-server-types.ts';
import type { ApprovalRequest } from './approval.ts';
import type * as read from './codex-schema.ts';
import type { TurnPage } from './run-fate.ts';
import type { ServerElicitation, UserInputRequest } from './user-input.ts';

/** A message has the fields of its own type, of those that are read of all; what is missing is read as empty. */
type Part<T> = T extends readonly (infer U)[] ? Part<U>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;
type Names<T> = T extends unknown ? keyof T : never;
/** `true`, or the names of what is read and no message has; `false` where what they have is of another type. */
type Fits<Native, Schema extends z.ZodType> = [Native] extends [Part<z.input<Schema>>]
  ? [Exclude<Names<z.input<Schema>>, Names<Native>>] extends [never]
    ? true
    : Exclude<Names<z.input<Schema>>, Names<Native>>
  : false;

type TextDelta =
  | native.AgentMessageDeltaNotification
  | native.ReasoningTextDeltaNotification
  | native.ReasoningSummaryTextDeltaNotification
  | native.CommandExecutionOutputDeltaNotification;
type OpenedThread = native.ThreadStartResponse | native.ThreadResumeResponse;
type AskedApproval =
  | native.CommandExecutionRequestApprovalParams
  | native.FileChangeRequestApprovalParams
  | native.PermissionsRequestApprovalParams;
/** An image's `result` is its text, which is read as none: only a tool's is. */
type Item = Exclude<native.ThreadItem, { type: 'imageGeneration' }>;

test('what is read of each message is what the protocol of the pinned version says it is', () => {
  expectTypeOf<Fits<TextDelta, typeof read.Delta>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ThreadStartedNotification['thread'], typeof read.Thread>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<OpenedThread, typeof read.OpenedThread>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.TurnStartedNotification, typeof read.TurnMessage>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.TurnCompletedNotification, typeof read.TurnMessage>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.TurnCompletedNotification['turn'], typeof read.Turn>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ServerRequestResolvedNotification, typeof read.ResolvedRequest>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ThreadTokenUsageUpdatedNotification, typeof read.TokenUsage>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.TurnPlanUpdatedNotification, typeof read.Plan>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.TurnDiffUpdatedNotification, typeof read.TurnDiff>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ErrorNotification, typeof read.ErrorMessage>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ThreadSettingsUpdatedNotification, typeof read.Settings>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ThreadTurnsListResponse, typeof TurnPage>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<AskedApproval, typeof ApprovalRequest>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.ToolRequestUserInputParams, typeof UserInputRequest>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<native.McpServerElicitationRequestParams, typeof ServerElicitation>>().toEqualTypeOf<true>();
  expectTypeOf<Fits<Item, typeof read.Item>>().toEqualTypeOf<true>();
  expectTypeOf<native.ItemStartedNotification['item']>().toEqualTypeOf<native.ThreadItem>();
  expectTypeOf<native.ItemCompletedNotification['item']>().toEqualTypeOf<native.ThreadItem>();
});
