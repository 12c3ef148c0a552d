-- The spine: threads, runs, their lanes of native frames, the delivery log, and the outbox that proves it complete.
-- Every row that a tenant can reach carries its tenant; the log's order is the thread row's lock (design, invariant 2).

create table thread (
  thread_id     text primary key,
  tenant_id     text not null,
  title         text check (length(title) <= 500),
  metadata      jsonb not null default '{}',
  head_seq      bigint not null default 0 check (head_seq >= 0),
  active_run_id text,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);
create index thread_by_tenant on thread (tenant_id, thread_id desc);

create table run (
  run_id              text primary key,
  tenant_id           text not null,
  thread_id           text not null references thread,
  parent_run_id       text references run (run_id),
  turn_seq            bigint not null,
  engine              text not null,
  model               text not null,
  status              text not null check (status in ('queued', 'running', 'completed', 'failed')),
  stop_reason         text,
  error               jsonb,
  input               text not null,
  settings            jsonb not null default '{}',
  metadata            jsonb not null default '{}',
  canonical_state     text not null default 'open'
    check (canonical_state in ('open', 'pending', 'translating', 'complete', 'complete_degraded', 'dead')),
  cancel_requested_at timestamptz,
  created_at          timestamptz not null default now(),
  started_at          timestamptz,
  settled_at          timestamptz,
  unique (thread_id, turn_seq),
  check ((status in ('completed', 'failed')) = (settled_at is not null))
);
create index run_by_tenant on run (tenant_id, run_id desc);
create index run_queued on run (thread_id, turn_seq) where status = 'queued';

create table command (
  command_id      text primary key,
  tenant_id       text not null,
  kind            text not null check (kind in ('run.create', 'run.cancel')),
  idempotency_key text,
  fingerprint     text not null,
  run_id          text not null references run,
  thread_id       text not null references thread,
  state           text not null check (state in ('queued', 'dispatched', 'completed', 'failed')),
  attempt_count   integer not null default 0,
  lease_until     timestamptz not null default now(),
  error           text,
  created_at      timestamptz not null default now()
);
create unique index command_idempotency on command (tenant_id, idempotency_key) where idempotency_key is not null;
create index command_due on command (lease_until) where state = 'queued';

-- A run's lane: the one place its frames go through. `state` is the translator's state after the last frame, and
-- `open_steps` maps a step in flight to the attempt that may write it (fencing).
create table lane (
  run_id         text primary key references run,
  thread_id      text not null references thread,
  last_seq       bigint not null default -1,
  digest         text not null,
  next_event_seq bigint not null default 0,
  state          text not null,
  open_steps     jsonb not null default '{}',
  refused_count  bigint not null default 0,
  sealed_at      timestamptz
);

-- A segment of native frames: adjacent frames of one attempt at one step that were stored together.
create table frame (
  run_id     text not null references run,
  first_seq  bigint not null,
  last_seq   bigint not null check (last_seq >= first_seq),
  provider   text not null,
  step_index integer,
  attempt    integer not null,
  payload    text not null,
  stored_at  timestamptz not null default now(),
  primary key (run_id, first_seq)
);

create table step (
  run_id       text not null references run,
  step_index   integer not null check (step_index >= 0),
  kind         text not null check (kind in ('model', 'tool')),
  attempt      integer not null default 1 check (attempt >= 1),
  status       text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
  label        text not null,
  content_hash text,
  result       text,
  error        text,
  started_at   timestamptz not null default now(),
  ended_at     timestamptz,
  primary key (run_id, step_index)
);

-- The delivery log. `body` is the JSON text of an event (or of a completion record) without its delivery fields, so that
-- a reader passes it through untouched.
create table delivery (
  thread_id    text not null references thread,
  delivery_seq bigint not null check (delivery_seq >= 1),
  run_id       text not null,
  step_index   integer,
  record       text not null check (record in ('event', 'complete')),
  event_id     text not null,
  seq          bigint not null,
  revision     integer not null check (revision >= 0),
  kind         text not null,
  retracted    boolean not null default false,
  body         text not null,
  primary key (thread_id, delivery_seq)
);
create index delivery_by_run on delivery (run_id, delivery_seq);

-- Ready SSE text of a range of the log. The log is append-only, so a range once committed never changes.
create table replay_segment (
  thread_id text not null references thread,
  first_seq bigint not null,
  last_seq  bigint not null check (last_seq >= first_seq),
  body      text not null,
  primary key (thread_id, first_seq)
);

create table outbox (
  run_id          text primary key references run,
  thread_id       text not null references thread,
  state           text not null check (state in ('pending', 'translating', 'complete', 'complete_degraded', 'dead')),
  claim           integer not null default 0,
  lease_until     timestamptz,
  attempt_count   integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error      text check (length(last_error) <= 500),
  created_at      timestamptz not null default now(),
  completed_at    timestamptz
);
create index outbox_due on outbox (next_attempt_at) where state in ('pending', 'translating');

-- An open question to a person. This row is the one arbiter of its answer: everything that ends it is the same
-- compare-and-set on (status = 'pending', epoch).
create table interrupt (
  interrupt_id text primary key,
  tenant_id    text not null,
  thread_id    text not null references thread,
  run_id       text not null references run,
  step_index   integer not null,
  kind         text not null check (kind in ('approval', 'question')),
  tool_call_id text not null,
  tool_name    text not null,
  arguments    text not null,
  args_digest  text not null,
  schema       text,
  prompt       text not null,
  options      jsonb not null,
  epoch        integer not null default 1,
  status       text not null
    check (status in ('pending', 'approved', 'edited', 'rejected', 'answered', 'dismissed', 'expired', 'cancelled')),
  decision     text,
  actor        text,
  created_at   timestamptz not null default now(),
  resolved_at  timestamptz,
  -- when Temporal was told of the answer; until then the dispatcher does it again
  woken_at     timestamptz,
  wake_lease   timestamptz,
  unique (run_id, step_index),
  check ((status = 'pending') = (resolved_at is null))
);
create index interrupt_open on interrupt (tenant_id, interrupt_id) where status = 'pending';
create index interrupt_unwoken on interrupt (resolved_at) where resolved_at is not null and woken_at is null;
create index interrupt_by_run on interrupt (run_id);

-- The built-in engine's session entries: canonical messages in the order in which the model sees them.
create table message (
  run_id        text not null references run,
  message_index integer not null check (message_index >= 0),
  step_index    integer,
  role          text not null check (role in ('user', 'assistant', 'tool-result')),
  tool_call_id  text,
  body          text not null,
  primary key (run_id, message_index)
);
create unique index message_one_result on message (run_id, tool_call_id) where tool_call_id is not null;
