/** The engines that a run may name. */
export const ENGINE_NAMES = ['builtin'] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
