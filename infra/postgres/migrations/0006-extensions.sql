-- What extensions decide and do outlives the process that they ran in.

-- A hook is asked once about a call: what it said holds while the run waits for a person, and after a crash. `edited`: the arguments
-- that the approver put in the place of the model's. `reason` is null where the call was allowed.
create table tool_verdict (
  run_id     text not null references run,
  step_index integer not null check (step_index >= 0),
  edited     boolean not null,
  reason     text check (length(reason) <= 1000),
  primary key (run_id, step_index, edited)
);

-- What a client asks of the extensions, which run in workers: a command, a control, a panel. Claimed by one worker, never twice; a row
-- goes when its answer was read, or an hour later.
create table extension_call (
  call_id    text primary key,
  tenant_id  text not null,
  thread_id  text references thread,
  kind       text not null,
  name       text not null,
  arguments  text not null,
  state      text not null default 'queued' check (state in ('queued', 'running', 'done')),
  lease_until timestamptz,
  -- JSON text: the result, or the problem
  answer     text,
  created_at timestamptz not null default now(),
  check ((state = 'done') = (answer is not null))
);
create index extension_call_open on extension_call (created_at) where state <> 'done';
create index extension_call_by_age on extension_call (created_at);
create index extension_call_by_thread on extension_call (thread_id) where thread_id is not null;

-- What each worker has loaded, as it says itself; one that is not seen any more is not asked for.
create table worker (
  worker_id  text primary key,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  -- JSON text: extensions with their records, models
  catalog    text not null
);
create index worker_by_seen on worker (seen_at);
