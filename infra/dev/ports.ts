import { createServer } from 'node:net';

/** Why nobody could listen on `port` now, as the system's error code; `null` if somebody could. */
export async function portProblem(port: number, host: string): Promise<string | null> {
  const server = createServer();
  try {
    await listen(server, port, host);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    server.close();
  }
}

/** A port that nobody listens on: the system's choice, so that two callers at once are given two. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  await listen(server, 0, host);
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return address.port;
}

/** `preferred` when it is free, otherwise another. */
export async function choosePort(preferred: number, host = '127.0.0.1'): Promise<number> {
  return preferred !== 0 && (await portProblem(preferred, host)) === null ? preferred : freePort(host);
}

function listen(server: ReturnType<typeof createServer>, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, resolve);
  });
}
