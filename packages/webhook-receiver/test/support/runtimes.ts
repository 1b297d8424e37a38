import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listen } from '@deedwire/testing';
import type { Adapter, Start } from './adapters.ts';
import type { fetchApps } from './fetch-apps.ts';
import type { ServerSettings } from './runtime-server.ts';
import { runtimeVersions } from './runtime-versions.ts';
import type { Hooks } from './setup.ts';

export interface Runtime {
  readonly name: string;
  /** The package of this platform. */
  readonly package: string;
  readonly version: string;
  /** The path of the binary in the package. */
  readonly binary: string;
  /** The arguments that start the module `server.js` of the working directory on a free port of 127.0.0.1. */
  readonly args: readonly string[];
  /** Further files of the working directory. */
  readonly files: Readonly<Record<string, string>>;
  /** What the process prints when it listens, on standard output, standard error or the third pipe. */
  readonly listening: RegExp;
  readonly excluded: readonly string[];
}

const { platform } = process;
const isArm = process.arch === 'arm64';

/** @param settings further fields of the Worker */
function workerdConfig(settings = ''): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "server.js", esModule = embed "server.js")], compatibilityDate = "2026-11-01", ${settings})),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

export const workerd: Runtime = {
  name: 'workerd',
  package: `@cloudflare/workerd-${platform}-${isArm ? 'arm64' : '64'}`,
  version: runtimeVersions.workerd,
  binary: 'bin/workerd',
  args: ['serve', 'config.capnp', '--control-fd=3'],
  files: { 'config.capnp': workerdConfig() },
  listening: /"port":(\d+)/,
  // A request cannot wait for the promise of another one. Workers are not closed: they have no end that they notice.
  excluded: ['refuses requests once it is closing, aborts the signal and waits for the handler'],
};

export const deno: Runtime = {
  name: 'Deno',
  package: `@deno/${platform}-${isArm ? 'arm64' : 'x64'}${platform === 'linux' ? '-glibc' : ''}`,
  version: runtimeVersions.deno,
  binary: 'deno',
  args: ['serve', '--host=127.0.0.1', '--port=0', '--allow-net=127.0.0.1', '--no-config', '--no-prompt', 'server.js'],
  files: {},
  listening: /http:\/\/127\.0\.0\.1:(\d+)/,
  // It responds, and then waits for the rest of the body.
  excluded: ['closes the connection if it does not read the whole body'],
};

export const bun: Runtime = {
  name: 'Bun',
  package: `@oven/bun-${platform}-${isArm ? 'aarch64' : 'x64'}`,
  version: runtimeVersions.bun,
  binary: 'bin/bun',
  args: ['server.js'],
  files: {},
  listening: /http:\/\/[^/]*:(\d+)/,
  excluded: [],
};

/** Kept between runs: the runtimes have 350 MB, and only one test uses them, so the workspace does not install them. */
const cache = fileURLToPath(new URL('../../node_modules/.cache/runtimes', import.meta.url));

/** Bundles as users do, with the esbuild that is installed beside the runtimes. */
async function bundle(options: object): Promise<string> {
  const esbuild: { build(options: object): Promise<{ outputFiles: { text: string }[] }> } = createRequire(
    join(cache, 'package.json'),
  )('esbuild');
  const { outputFiles } = await esbuild.build({ bundle: true, format: 'esm', write: false, ...options });
  return outputFiles.map((file) => file.text).join('');
}

/**
 * Installs the binaries for this platform. Does nothing if they are installed.
 *
 * @returns whether they are installed: false without a network, or if a runtime has no binary for this platform
 * @throws {Error} instead of returning false, under CI
 */
export async function installRuntimes(runtimes: readonly Runtime[]): Promise<boolean> {
  const dependencies = {
    esbuild: '0.28.2',
    ...Object.fromEntries(runtimes.map((runtime) => [runtime.package, runtime.version])),
  };
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error'];
  try {
    await promisify(execFile)('npm', ['install', ...options], { cwd: cache });
    return true;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const names = runtimes.map(({ name }) => name).join(', ');
    process.stdout.write(`webhook-receiver: skipping ${names}, which cannot be installed: ${String(error)}\n`);
    return false;
  }
}

/** Bundles the server of the tests with the built package, as a user does. */
export async function bundleServer(folder: string): Promise<string> {
  for (const file of ['fetch-apps.ts', 'log.ts', 'order-events/index.ts', 'runtime-server.ts', 'setup.ts'])
    await cp(new URL(file, import.meta.url), join(folder, file));
  return bundle({ entryPoints: [join(folder, 'runtime-server.ts')], minify: true });
}

/**
 * Bundles a Worker that uses `pg`, as wrangler does with `nodejs_compat`, and starts it.
 *
 * @param folder where the built packages are installed
 * @param bindings its texts and objects
 */
export async function startWorker(
  folder: string,
  source: string,
  bindings: Readonly<Record<string, unknown>>,
): ReturnType<typeof startProcess> {
  const code = await bundle({
    stdin: { contents: source, loader: 'ts', resolveDir: folder },
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['module', 'main'],
    platform: 'neutral',
    external: ['node:*', 'cloudflare:*', 'pg-native'],
    alias: Object.fromEntries(builtinModules.map((name) => [name, `node:${name}`])),
    banner: { js: 'const require = (name) => process.getBuiltinModule(name);' },
  });
  const worker = await mkdtemp(join(folder, 'worker-'));
  const texts = Object.entries(bindings).map(
    ([name, value]) =>
      `(name = "${name}", ${typeof value === 'string' ? 'text' : 'json'} = ${JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value))})`,
  );
  const settings = `compatibilityFlags = ["nodejs_compat"], bindings = [${texts.join(', ')}]`;
  await writeFile(join(worker, 'config.capnp'), workerdConfig(settings));
  await writeFile(join(worker, 'server.js'), code);
  return startProcess(workerd, worker);
}

/** The adapter whose receivers are in one process of a runtime, which the first of them starts. */
export function runtimeAdapter(
  runtime: Runtime,
  app: keyof typeof fetchApps,
  fix: string,
  server: { folder: string; code: string },
): Adapter & { stop(): Promise<void> } {
  const hooks: Hooks[] = [];
  let starting: ReturnType<typeof start> | undefined;

  async function start() {
    const hooksServer = await serveHooks(hooks);
    const settings: ServerSettings = { app, hooksUrl: hooksServer.url };
    const code = `globalThis.serverSettings = ${JSON.stringify(settings)};\n${server.code}`;
    const folder = await mkdtemp(join(server.folder, 'server-'));
    for (const [name, content] of Object.entries({ ...runtime.files, 'server.js': code }))
      await writeFile(join(folder, name), content);
    const running = await startProcess(runtime, folder);
    return {
      port: running.port,
      async stop() {
        await running.stop();
        await hooksServer.close();
      },
    };
  }

  return {
    name: runtime.name,
    isBuffered: false,
    fix,
    excluded: runtime.excluded,
    async start({ setup, mount, hooks: ofReceiver }: Start) {
      const { port } = await (starting ??= start());
      const url = `http://127.0.0.1:${port}/${hooks.push(ofReceiver) - 1}`;
      const control = async (name: string, value: unknown = null) => {
        const response = await fetch(`${url}/${name}`, { method: 'POST', body: JSON.stringify(value) });
        return JSON.parse(await response.text());
      };
      await control('start', { setup, mount });
      return {
        url: `${url}/webhooks`,
        port,
        stop: async () => {},
        forget: (ids) => control('forget', ids),
        logged: () => control('logged'),
        isAborted: (id) => control('isAborted', id),
        async close() {
          await control('close');
          return { closed: control('closed') };
        },
      };
    },
    stop: async () => (await starting)?.stop(),
  };
}

/** @param hooks of each receiver, by its index */
async function serveHooks(hooks: readonly Hooks[]): Promise<{ url: string; close(): Promise<void> }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const value = JSON.parse(await text(request));
    const [, index, name] = request.url?.split('/') ?? [];
    try {
      await (name === 'handle' ? hooks[Number(index)]?.handle(value) : hooks[Number(index)]?.handleUnknown(value));
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  };
  const server = await listen(createServer((request, response) => void answer(request, response)));
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.close() };
}

async function startProcess(
  { name, package: installed, binary, args, listening }: Runtime,
  folder: string,
): Promise<{ port: number; stop(): Promise<void> }> {
  const file = join(cache, 'node_modules', installed, binary);
  const env = { HOME: folder, DENO_NO_UPDATE_CHECK: '1', NODE_ENV: 'production', NO_COLOR: '1' };
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let printed = '';
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const read = (chunk: Buffer): void => {
    printed += chunk.toString();
    const [, port] = listening.exec(printed) ?? [];
    if (port !== undefined) resolve(Number(port));
  };
  for (const pipe of child.stdio.slice(1) as Readable[]) pipe.on('data', read);
  child.on('error', reject);
  exited.then(
    ([code]) => reject(new Error(`${name} exited with ${code}:\n${printed}`)),
    () => {},
  );
  return {
    port: await promise,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
