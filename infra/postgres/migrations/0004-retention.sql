-- What is removed: a thread when its client says so, frames and the beginnings of logs when they are old enough.

-- `erasing_at`: it is to be erased once its runs have ended, and takes no more of them. `gone_at`: no reader finds it any more,
-- its rows are being removed. `retained_from`: the log's first delivery that is still there.
alter table thread
  add column erasing_at    timestamptz,
  add column gone_at       timestamptz,
  add column retained_from bigint not null default 1 check (retained_from >= 1);

alter table run
  add column frames_removed_at     timestamptz,
  add column deliveries_removed_at timestamptz;
create index run_with_frames on run (settled_at) where settled_at is not null and frames_removed_at is null;
create index run_with_deliveries on run (settled_at) where settled_at is not null and deliveries_removed_at is null;

-- What was erased and how far that is. It outlives the thread: ids and times alone.
create table erasure (
  thread_id            text primary key,
  tenant_id            text not null,
  requested_at         timestamptz not null default now(),
  rows_removed_at      timestamptz,
  workspace_removed_at timestamptz,
  lease_until          timestamptz not null default now(),
  attempt_count        integer not null default 0,
  last_error           text check (length(last_error) <= 500)
);
create index erasure_due on erasure (lease_until) where workspace_removed_at is null;

-- Each row that goes is looked for in every table that may refer to it.
create index run_by_parent on run (parent_run_id) where parent_run_id is not null;
create index command_by_run on command (run_id);
create index command_by_thread on command (thread_id);
create index lane_by_thread on lane (thread_id);
create index outbox_by_thread on outbox (thread_id);
create index interrupt_by_thread on interrupt (thread_id);
