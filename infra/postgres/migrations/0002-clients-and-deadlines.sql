-- Clients of AG-UI name their threads themselves, and an interrupt may have a time by which it must be answered.

alter table thread add column client_thread_id text check (length(client_thread_id) <= 200);
create unique index thread_by_client on thread (tenant_id, client_thread_id) where client_thread_id is not null;

alter table interrupt add column deadline_at timestamptz;
