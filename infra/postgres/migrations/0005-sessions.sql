-- Engines with a loop of their own: their sessions outlive their processes, a turn is a step that the engine drives itself, and
-- it asks what it will while it works.

-- A thread's session with one engine (HarnessSession). `native_session_id` is what the newest generation works in; the head is
-- what was last committed, and stays while a later generation is pending, uncertain or failed.
create table session (
  thread_id              text not null references thread,
  engine                 text not null,
  provider               text not null,
  native_session_id      text not null,
  runtime_kind           text not null check (runtime_kind in ('sandbox', 'managed')),
  runtime_id             text not null,
  protocol_version       text not null,
  capabilities           jsonb not null,
  generation             integer not null check (generation >= 1),
  revision               bigint not null default 0 check (revision >= 0),
  head_native_session_id text,
  head_ref               text,
  durability             text not null check (durability in ('pending', 'committed', 'uncertain', 'failed')),
  run_id                 text not null references run,
  updated_at             timestamptz not null default now(),
  primary key (thread_id, engine),
  check ((head_ref is null) = (head_native_session_id is null))
);
create index session_by_run on session (run_id);

alter table step drop constraint step_kind_check;
alter table step add constraint step_kind_check check (kind in ('model', 'tool', 'turn')) not valid;
alter table step validate constraint step_kind_check;

-- `ask_key`: which of a step's questions; a tool call of the built-in engine has one. `form`: the fields of a question that asks for
-- more than one text. `delivered_at`: when the engine was given the answer; it is not given twice.
alter table interrupt
  add column ask_key      text not null default '',
  add column form         jsonb,
  add column delivered_at timestamptz;
alter table interrupt drop constraint interrupt_run_id_step_index_key;
create unique index interrupt_by_ask on interrupt (run_id, step_index, ask_key);

-- Native events that could not be stored: why a run is complete only as degraded.
create table capture_loss (
  run_id     text not null references run,
  loss_index integer not null check (loss_index >= 0),
  step_index integer,
  frames     integer not null check (frames >= 1),
  reason     text not null check (length(reason) <= 500),
  noted_at   timestamptz not null default now(),
  primary key (run_id, loss_index)
);
