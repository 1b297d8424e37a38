import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runServer } from 'verdaccio';

/** A package registry with nothing in it, for our scope alone, on a port of its own. */
export interface TestRegistry {
  url: string;
  /** The configuration of npm for whoever may publish. */
  publisherConfig: string;
  /** The configuration of npm for everybody else: our packages come from here, all others from where they always do. */
  consumerConfig: string;
  /** From now on publishing this package never ends. Resolves when somebody has begun to. */
  stallPublishing(name: string): Promise<void>;
  /** Publishing works again, for those who begin now. */
  resumePublishing(): void;
  /** Empty: nothing is published. */
  versionsOf(name: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<TestRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-registry-'));
  const server: Server = await runServer({
    self_path: folder,
    config_path: join(folder, 'config.yaml'),
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: {},
    packages: { '@deedwire/*': { access: '$all', publish: '$authenticated' } },
    web: { enable: false },
    log: { type: 'file', path: join(folder, 'log'), level: 'warn', format: 'json' },
  });
  let stalled: { path: string; begun: () => void } | null = null;
  const [serve] = server.rawListeners('request');
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'PUT' && request.url === stalled?.path) stalled?.begun();
    else serve?.call(server, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The registry has no port.');
  const host = `127.0.0.1:${address.port}`;
  const consumerConfig = `@deedwire:registry=http://${host}/\n`;
  const publisherConfig = join(folder, 'npmrc');
  await writeFile(publisherConfig, `${consumerConfig}//${host}/:_authToken=${await signUp(host)}\n`);
  return {
    url: `http://${host}/`,
    publisherConfig,
    consumerConfig,
    stallPublishing: (name) =>
      new Promise((begun) => {
        stalled = { path: pathOf(name), begun };
      }),
    resumePublishing() {
      stalled = null;
    },
    async versionsOf(name) {
      const response = await fetch(`http://${host}${pathOf(name)}`);
      if (response.status === 404) return [];
      const { versions } = await response.json();
      return Object.keys(versions);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}

/** As npm asks for a package. */
function pathOf(name: string): string {
  return `/${name.replace('/', '%2f')}`;
}

/** Makes a user, as `npm adduser` does, and returns its token. */
async function signUp(host: string): Promise<string> {
  const response = await fetch(`http://${host}/-/user/org.couchdb.user:publisher`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'publisher', password: 'of-no-use-elsewhere' }),
  });
  const { token } = await response.json();
  return token;
}
