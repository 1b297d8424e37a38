import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installApart, listen } from '@deedwire/testing';

/** A package registry for the scope `@deedwire`, on a free port. It is empty at first. */
export interface TestRegistry {
  url: string;
  /** Path of an npm configuration file with the right to publish. */
  publisherConfig: string;
  /** Contents of an npm configuration file that takes `@deedwire` packages, and no others, from this registry. */
  consumerConfig: string;
  /** Makes requests to publish this package hang. Resolves when the first one arrives. */
  stallPublishing(name: string): Promise<void>;
  /** Accepts new requests to publish. Requests that already hang stay so. */
  resumePublishing(): void;
  /** Empty if the package is not published. */
  versionsOf(name: string): Promise<string[]>;
  /** Dist-tag → version. */
  distTagsOf(name: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<TestRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-registry-'));
  const verdaccio = await installApart('registry');
  const { runServer }: { runServer: (settings: object) => Promise<Server> } = createRequire(
    join(verdaccio.folder, 'package.json'),
  )('verdaccio');
  const server = await runServer({
    self_path: folder,
    config_path: join(folder, 'config.yaml'),
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: {},
    packages: { '@deedwire/*': { access: '$all', publish: '$authenticated' } },
    web: { enable: false },
    log: { type: 'file', path: join(folder, 'log'), level: 'warn', format: 'json' },
  });
  let stalled: { path: string; onRequest: () => void } | null = null;
  const [serve] = server.rawListeners('request');
  server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'PUT' && request.url === stalled?.path) stalled?.onRequest();
    else serve?.call(server, request, response);
  });
  const listening = await listen(server);
  const host = `127.0.0.1:${listening.port}`;
  const consumerConfig = `@deedwire:registry=http://${host}/\n`;
  const publisherConfig = join(folder, 'npmrc');
  await writeFile(publisherConfig, `${consumerConfig}//${host}/:_authToken=${await signUp(host)}\n`);
  return {
    url: `http://${host}/`,
    publisherConfig,
    consumerConfig,
    stallPublishing: (name) =>
      new Promise((onRequest) => {
        stalled = { path: pathOf(name), onRequest };
      }),
    resumePublishing() {
      stalled = null;
    },
    async versionsOf(name) {
      const response = await fetch(`http://${host}${pathOf(name)}`);
      if (response.status === 404) return [];
      const { versions } = (await response.json()) as { versions: object };
      return Object.keys(versions);
    },
    async distTagsOf(name) {
      const response = await fetch(`http://${host}${pathOf(name)}`);
      const { 'dist-tags': tags } = (await response.json()) as { 'dist-tags': Record<string, string> };
      return tags;
    },
    async close() {
      await listening.close();
      await rm(folder, { recursive: true });
      await verdaccio.remove();
    },
  };
}

/** The path that npm requests for a package. */
function pathOf(name: string): string {
  return `/${name.replace('/', '%2f')}`;
}

/** Creates a user as `npm adduser` does and returns its token. */
async function signUp(host: string): Promise<string> {
  const response = await fetch(`http://${host}/-/user/org.couchdb.user:publisher`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'publisher', password: 'of-no-use-elsewhere' }),
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}
