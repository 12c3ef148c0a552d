/**
 * Every limit of lifecycle v1 (the contract's "bounded"; rule 11), in one place. `docs/lifecycle.md` has the same list with
 * the reasons. Lengths of text are UTF-16 code units (`string.length`), as a JavaScript client counts them.
 */

/** An opaque id: run, conversation, message, tool call, interrupt, agent, namespace element, head. */
export const ID_LIMIT_CHARS = 256;
/** A machine code: `^[a-z][a-z0-9_]*$`. */
export const CODE_LIMIT_CHARS = 64;
/** A name that is shown or matched: a tool, an agent, a model, an adapter version, a stop reason, a form field. */
export const NAME_LIMIT_CHARS = 256;
/** `timestamp`: `2026-08-17T00:00:00Z`, with up to nine digits of a second. */
export const TIMESTAMP_LIMIT_CHARS = 30;
/** A sanitized sentence for a person: an error's, a tool error's, a warning's. */
export const MESSAGE_LIMIT_CHARS = 2_000;
/** The question of a form, a field's label, description, placeholder or value. */
export const PROMPT_LIMIT_CHARS = 8_000;
/** One `text.delta`, `reasoning.delta` or `tool.arguments.delta`. */
export const DELTA_LIMIT_CHARS = 65_536;

/** A tool's result as it is shown: this much of it, then `...[<remaining> chars]`. */
export const TOOL_RESULT_DISPLAY_CHARS = 2_000;
/** The longest string that display can give: the text and its suffix. */
export const TOOL_RESULT_LIMIT_CHARS = TOOL_RESULT_DISPLAY_CHARS + 32;
/** All arguments of one tool call: the JSON of `arguments`, or all its `tool.arguments.delta` together. */
export const TOOL_ARGUMENTS_LIMIT_CHARS = 131_072;

/** Arrays and objects inside one another in a JSON value (arguments, details), the outermost counted. */
export const JSON_DEPTH_LIMIT = 16;
/** Members and items of such a value, all levels together. */
export const JSON_ITEMS_LIMIT = 2_000;
/** A member's name in such a value. */
export const JSON_KEY_LIMIT_CHARS = 256;
/** A string in such a value. */
export const JSON_STRING_LIMIT_CHARS = 65_536;
/** The whole of one event as JSON: depth below the envelope included. */
export const EVENT_DEPTH_LIMIT = JSON_DEPTH_LIMIT + 5;
export const EVENT_ITEMS_LIMIT = 20_000;

export const WARNING_DETAILS_ITEMS_LIMIT = 50;
export const WARNING_DETAILS_DEPTH_LIMIT = 3;
export const WARNING_DETAILS_LIMIT_CHARS = 4_000;

export const METADATA_STRING_LIMIT_CHARS = 256;
/** The only keys that `provider.metadata` may hold; each value is a scalar. */
export const METADATA_KEYS = [
  'api_version',
  'attempts',
  'cache_hit',
  'deployment',
  'finish_reason',
  'latency_ms',
  'max_output_tokens',
  'reasoning_effort',
  'region',
  'request_id',
  'response_id',
  'service_tier',
  'system_fingerprint',
  'temperature',
  'time_to_first_token_ms',
] as const;

export const NAMESPACE_DEPTH_LIMIT = 8;
export const FORM_FIELDS_LIMIT = 50;
export const FIELD_VALUES_LIMIT = 200;
export const TOOL_APPROVALS_LIMIT = 64;
export const TOKENS_LIMIT = Number.MAX_SAFE_INTEGER;
export const COST_LIMIT = 1_000_000_000;
export const RETRY_AFTER_LIMIT_SECONDS = 86_400;

/** Per run, that is per stream: the machine counts these. */
export const EVENTS_PER_RUN_LIMIT = 1_000_000;
export const TEXT_PER_RUN_LIMIT_CHARS = 64 * 1024 * 1024;
export const TEXT_BLOCKS_PER_RUN_LIMIT = 20_000;
export const OPEN_BLOCKS_LIMIT = 256;
export const TOOL_CALLS_PER_RUN_LIMIT = 10_000;
export const OPEN_TOOL_CALLS_LIMIT = 256;
export const OPEN_NAMESPACES_LIMIT = 128;
export const WARNINGS_PER_RUN_LIMIT = 1_000;
