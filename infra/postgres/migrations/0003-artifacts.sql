-- What is too large for the log is kept once for each tenant, named by its content, in chunks so that neither writing nor
-- reading it holds it whole. A link says which run refers to it: an artifact without one is nobody's.

create table artifact (
  artifact_id  text primary key,
  tenant_id    text not null,
  sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  bytes        bigint not null check (bytes >= 0),
  content_type text not null check (content_type ~ '^[\x20-\x7e]{1,200}$'),
  created_at   timestamptz not null default now(),
  -- when it was last stored: what has no link and is old is left over; what is young may be about to get one
  touched_at   timestamptz not null default now(),
  unique (tenant_id, sha256)
);

-- Deferred: content is written before its hash, and so its artifact, is known.
create table artifact_chunk (
  artifact_id text not null references artifact on delete cascade deferrable initially deferred,
  first_byte  bigint not null check (first_byte >= 0),
  content     bytea not null check (octet_length(content) between 1 and 262144),
  primary key (artifact_id, first_byte)
);

create table artifact_link (
  run_id      text not null references run,
  link_index  integer not null check (link_index >= 0),
  artifact_id text not null references artifact,
  thread_id   text not null references thread,
  name        text not null check (length(name) between 1 and 255),
  created_at  timestamptz not null default now(),
  primary key (run_id, link_index),
  unique (run_id, artifact_id, name)
);
create index artifact_link_by_artifact on artifact_link (artifact_id);
create index artifact_link_by_thread on artifact_link (thread_id);
