import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type { World } from './world.ts';

/** Work of others that was under way before the bench began: above zero, figures in milliseconds say little. */
const LOAD_BEFORE = loadavg()[0] ?? NaN;

/** What the figures were taken on: no names and no paths. */
export async function machineFacts(world: World): Promise<Record<string, string | number>> {
  const { pool } = await world.database('facts');
  const { rows } = await pool.query<Record<string, string>>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as synchronous_commit`,
  );
  const [postgres] = rows;
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gib: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    load_average_before: Number(LOAD_BEFORE.toFixed(2)),
    node: process.version,
    postgres: `${postgres?.['version'] ?? '?'} (fsync ${postgres?.['fsync'] ?? '?'}, synchronous_commit ${postgres?.['synchronous_commit'] ?? '?'})`,
    ...(world.temporalBinary === '' ? {} : { temporal: await temporalVersion(world.temporalBinary) }),
  };
}

async function temporalVersion(binary: string): Promise<string> {
  const { stdout } = await promisify(execFile)(binary, ['--version']);
  return stdout.trim().replace(/^temporal version /, '');
}
