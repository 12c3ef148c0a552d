-- What is said to a run while it works: it waits here until a model call takes it, and a run that has come to its end takes no more.

-- `input_index`: the order of acceptance in the run. `text` is JSON text, like a run's input. `step_index`: the model step that took
-- it, or, while it is queued, the step that a natural stop has promised it to.
create table queued_input (
  input_id        text primary key,
  tenant_id       text not null,
  thread_id       text not null references thread,
  run_id          text not null references run,
  input_index     integer not null check (input_index >= 0),
  queue           text not null check (queue in ('steering', 'follow_up')),
  text            text not null,
  state           text not null check (state in ('queued', 'injected', 'dropped')),
  step_index      integer check (step_index >= 0),
  drop_reason     text check (drop_reason in ('cleared', 'run_ended')),
  idempotency_key text,
  fingerprint     text not null,
  created_at      timestamptz not null default now(),
  injected_at     timestamptz,
  dropped_at      timestamptz,
  unique (run_id, input_index),
  check ((state = 'injected') = (injected_at is not null)),
  check ((state = 'dropped') = (dropped_at is not null)),
  check ((drop_reason is null) = (dropped_at is null)),
  check (state <> 'injected' or step_index is not null)
);
create unique index queued_input_idempotency on queued_input (tenant_id, idempotency_key)
  where idempotency_key is not null;
create index queued_input_waiting on queued_input (run_id, input_index) where state = 'queued';
create index queued_input_by_thread on queued_input (thread_id);

-- Set by the step that ends a run: from then on a run takes no input, and what is posted becomes a run of its own.
alter table run add column input_closed_at timestamptz;
