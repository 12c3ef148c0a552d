import type { AuthBackend } from './auth-backend.ts';

export interface EnvironmentKeySettings {
  readonly variable: string;
  /** Read at each call, never copied. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What is sent where the variable is empty: a local server asks for no key. */
  readonly otherwise?: string;
}

/** The key in an environment variable. */
export function environmentKey({ variable, environment, otherwise }: EnvironmentKeySettings): AuthBackend {
  return {
    name: `environment ${variable}`,
    apiKey: async () => await Promise.resolve(environment[variable]?.trim() || (otherwise ?? null)),
  };
}
