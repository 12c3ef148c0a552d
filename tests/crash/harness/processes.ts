import { readdir, readFile } from 'node:fs/promises';

/** The processes of this machine that were started with this home: gateways, workers, and whatever they have started. */
export async function processesOf(home: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [environment, command] = await Promise.all([read(name, 'environ'), read(name, 'cmdline')]);
    if (environment.split('\0').includes(`TIDEMARK_HOME=${home}`))
      found.push({ pid: Number(name), command: command.replaceAll('\0', ' ') });
  }
  return found;
}

/** Empty for one that is gone meanwhile, or is another user's. */
async function read(pid: string, what: string): Promise<string> {
  return await readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => '');
}
