import type { ThreadRow } from '../infra/postgres/thread.ts';

/** A thread as REST shows it. Times are ISO 8601. */
export function viewThread(thread: ThreadRow): Record<string, unknown> {
  return {
    thread_id: thread.thread_id,
    title: thread.title,
    metadata: thread.metadata,
    head: thread.head_seq,
    retained_from: thread.retained_from,
    erasing: thread.erasing_at !== null,
    active_run_id: thread.active_run_id,
    created_at: thread.created_at.toISOString(),
    updated_at: thread.updated_at.toISOString(),
  };
}
