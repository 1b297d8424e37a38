import { createServer } from 'node:net';
import { listen } from '@deedwire/testing';
import { onTestFinished } from 'vitest';

/** The port of a server that accepts connections and never responds, and one on which nothing listens. */
export async function deadPorts(): Promise<number[]> {
  const [silentServer, free] = await Promise.all([listen(createServer(() => {})), listen(createServer())]);
  onTestFinished(() => silentServer.close());
  await free.close();
  return [silentServer.port, free.port];
}
