-- Sub-agents of the built-in engine: each works inside the run that delegated to it, in the same lane, with steps of a range of its own.
-- It has a conversation of its own, which is no part of the run's and of no later run's.

-- What a call delegated, as it was when the sub-agent began. `model`: null is the run's. `tools`: null is all that a sub-agent may have.
create table sub_agent (
  run_id     text not null references run,
  step_index integer not null check (step_index >= 0),
  name       text check (length(name) <= 100),
  model      text check (length(model) <= 200),
  tools      jsonb,
  primary key (run_id, step_index)
);

-- The step that delegated to the sub-agent whose message it is; null: a message of the run's own conversation.
alter table message add column sub_agent_step integer;
