import { Client, escapeIdentifier, type ClientConfig } from 'pg';

/** Creates a database on the server that `adminUrl` points to; `template` makes it a copy of another. */
export async function createDatabase(
  adminUrl: string,
  name: string,
  options: { template?: string } = {},
): Promise<void> {
  const copy = options.template === undefined ? '' : ` template ${escapeIdentifier(options.template)}`;
  await withClient({ connectionString: adminUrl }, (client) =>
    client.query(`create database ${escapeIdentifier(name)}${copy}`),
  );
}

export async function hasDatabase(adminUrl: string, name: string): Promise<boolean> {
  return withClient({ connectionString: adminUrl }, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    return rowCount === 1;
  });
}

/** Drops a database even if somebody is connected to it; one that is not there is no error. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient({ connectionString: adminUrl }, (client) =>
    client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`),
  );
}

/** Connects, asks and leaves; throws what the driver or the server says. */
export async function assertReachable(url: string, { timeoutMs }: { timeoutMs: number }): Promise<void> {
  await withClient({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs }, (client) =>
    client.query('select 1'),
  );
}

async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  client.on('error', () => {}); // the query that is cut off says so
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
