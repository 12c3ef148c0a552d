-- Conversations outgrow their model's context: a summary stands for the messages before the first one that is kept. A run's usage is
-- kept with it, so that reading it needs neither its log nor today's prices.

-- A step compacts its conversation once, so a repeated step finds what it did. `at_message_index`: how many messages the run had.
-- The first kept message may be another run's of the same line; one that is not found means the whole history, so it is no foreign
-- key. `summary` is JSON text, as it may hold what a text column may not; `usage` is what the summary itself has cost.
create table compaction (
  run_id                   text not null references run,
  step_index               integer not null check (step_index >= 0),
  at_message_index         integer not null check (at_message_index >= 0),
  first_kept_run_id        text not null,
  first_kept_message_index integer not null check (first_kept_message_index >= 0),
  summary                  text not null,
  trigger                  text not null check (trigger in ('manual', 'automatic')),
  guidance                 text,
  tokens_before            integer not null check (tokens_before >= 0),
  tokens_after             integer not null check (tokens_after >= 0),
  messages_summarized      integer not null check (messages_summarized >= 1),
  messages_kept            integer not null check (messages_kept >= 1),
  usage                    jsonb,
  created_at               timestamptz not null default now(),
  primary key (run_id, step_index)
);

-- What the run's engine last said that it has used: `{inputTokens, outputTokens, cachedInputTokens, costUsd}`.
alter table run add column usage jsonb;
