-- An engine that is one process a turn names its session only when it has the turn: until then nobody knows the name.

alter table session alter column native_session_id drop not null;
