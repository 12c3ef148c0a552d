/**
 * The demo model's names: a run may ask for `scripted/<name>`. Here and not beside the scenario files, because the gateway
 * checks a model's name and may not import the engine; a test holds the two together.
 */
export const SCRIPTED_MODELS = ['approval', 'delegate', 'demo', 'question', 'slow', 'text', 'tools'] as const;
