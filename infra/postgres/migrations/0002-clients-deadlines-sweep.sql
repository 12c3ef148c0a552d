-- Clients of AG-UI name their threads themselves; an interrupt may have a time by which it must be answered; and the sweep looks
-- at runs that have not ended, the longest unseen first, and asks Temporal whether their workflow still lives.

alter table thread add column client_thread_id text check (length(client_thread_id) <= 200);
create unique index thread_by_client on thread (tenant_id, client_thread_id) where client_thread_id is not null;

alter table interrupt add column deadline_at timestamptz;

alter table run add column swept_at timestamptz not null default now();
create index run_unswept on run (swept_at) where settled_at is null;
