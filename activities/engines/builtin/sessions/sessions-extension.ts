import type { Extension } from '../../../../contract/extensions/extension.ts';
import type { JsonlSessions } from './jsonl-sessions.ts';
import type { PostgresSessions } from './postgres-sessions.ts';

/** The session backends that come with the engine, as records of their kind; files only where a folder is configured. */
export function sessionsExtension({
  postgres,
  jsonl,
}: {
  postgres: PostgresSessions;
  jsonl: JsonlSessions | null;
}): Extension {
  return (api) => {
    api.register('session-backend', postgres);
    if (jsonl !== null) api.register('session-backend', jsonl);
  };
}
