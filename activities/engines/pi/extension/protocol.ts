/**
 * What Tidemark's extension in pi and the driver tell each other, by pi's dialogs and statuses. pi loads the files of this folder
 * itself: they import nothing but each other and Node.
 */

/** Title of the dialog that asks whether a tool may run: its placeholder is an `ApprovalRequest`, its value an `ApprovalAnswer`. */
export const APPROVAL_TITLE = 'tidemark.approval';
/** Title of the dialog of the tool `ask_user`: its placeholder is a `QuestionRequest`, its value the answer as a text. */
export const QUESTION_TITLE = 'tidemark.question';
/** Status that says that the extension is there: its text is a `Ready`. */
export const READY_STATUS = 'tidemark.ready';
/** Status that says what a tool did to a file: its text is a `ChangedFile`. */
export const CHANGE_STATUS = 'tidemark.change';

/** Flag with the names of the tools that need an approval, separated by commas. */
export const ASK_FLAG = 'tidemark-ask';
/** Flag with the id of the run that is driven. */
export const RUN_FLAG = 'tidemark-run';

export const QUESTION_TOOL = 'ask_user';

type Fields = Readonly<Record<string, unknown>>;

export interface ApprovalRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Fields;
  /** JSON Schema of the input; null when pi gives none. */
  readonly schema: Fields | null;
}

export type ApprovalAnswer =
  | { readonly decision: 'approve' }
  /** The like is not asked for again in this session. */
  | { readonly decision: 'always' }
  | { readonly decision: 'edit'; readonly input: Fields }
  | { readonly decision: 'reject'; readonly message: string };

export interface QuestionRequest {
  readonly toolCallId: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
}

/** What became of the run's last turn, of which nobody saw the end; `unknown` when this session never heard of the run. */
export type RunFate = 'completed' | 'in_progress' | 'unknown';

export interface Ready {
  /** The tools that the model is told of. */
  readonly tools: readonly string[];
  readonly fate: RunFate;
}

export interface ChangedFile {
  readonly toolCallId: string;
  /** Absolute. */
  readonly path: string;
  /** Null: there was no such file. */
  readonly before: string | null;
  readonly after: string;
}
