import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { choosePort, freePort, portProblem } from './ports.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
}

describe('choosePort', () => {
  it('takes the preferred port when it is free, otherwise another', async () => {
    const port = await freePort();
    expect(await choosePort(port)).toBe(port);
    await occupy(port);
    const other = await choosePort(port);
    expect(other).not.toBe(port);
    await occupy(other);
  });

  it('takes any for 0', async () => {
    expect(await choosePort(0)).toBeGreaterThan(0);
  });
});

describe('portProblem', () => {
  it('says why a port cannot be used', async () => {
    const port = await freePort();
    expect(await portProblem(port, '127.0.0.1')).toBeNull();
    await occupy(port);
    expect(await portProblem(port, '127.0.0.1')).toBe('EADDRINUSE');
    expect(await portProblem(port, '203.0.113.1')).toBe('EADDRNOTAVAIL');
  });
});
