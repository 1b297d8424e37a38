import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

const { PATH = '', CI } = process.env;
const browser = PATH.split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => existsSync(file));
const skipped = browser === undefined && CI !== 'true';
if (skipped) process.stdout.write('webhook-signing: skipping the browser test, Chromium is not on the PATH\n');

// No user profile, and no connection except to the page.
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let built = '';
let profile = '';

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'webhook-signing-browser-'));
  profile = await mkdtemp(join(tmpdir(), 'webhook-signing-profile-'));
});

afterAll(() => Promise.all([built, profile].map((folder) => rm(folder, { recursive: true, maxRetries: 10 }))));

it.skipIf(skipped)('passes every test vector in a browser', async () => {
  if (browser === undefined) throw new Error('Chromium is not on the PATH.');
  const page = join(packageFolder, 'test/full/browser-page.ts');
  const options =
    '--ignoreConfig --strict --skipLibCheck --target es2023 --lib es2023,dom --module nodenext --rewriteRelativeImportExtensions'.split(
      ' ',
    );
  await promisify(execFile)(process.execPath, [
    tsc,
    ...options,
    '--types',
    '',
    '--rootDir',
    packageFolder,
    '--outDir',
    built,
    page,
  ]);

  const { url, report, close } = await servePage();
  const child = spawn(browser, [...flags, `--user-data-dir=${profile}`, url], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    const exited = ended.then(() => Promise.reject(new Error('The browser exited without a report.')));
    const vectors = JSON.parse(await readFile(join(packageFolder, 'test-vectors.json'), 'utf8'));
    const { secrets, sign, verify } = vectors;
    const passed = secrets.valid.length + secrets.invalid.length + sign.length + verify.length + 1;
    expect(await Promise.race([report, exited])).toEqual({ passed, failed: [] });
  } finally {
    child.kill('SIGKILL');
    await ended;
    await close();
  }
});

/** Serves a page with the compiled module and the vectors, and accepts the report of the page. */
async function servePage(): Promise<{ url: string; report: Promise<unknown>; close: () => Promise<void> }> {
  const { promise: report, resolve: resolveReport } = Promise.withResolvers<unknown>();
  const files: Record<string, string> = { '/test-vectors.json': join(packageFolder, 'test-vectors.json') };
  const types: Record<string, string> = { '.js': 'text/javascript', '.json': 'application/json' };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (request.method === 'POST') {
      request.toArray().then((chunks) => resolveReport(JSON.parse(Buffer.concat(chunks).toString())), resolveReport);
      response.writeHead(204).end();
    } else if (path === '/') {
      response
        .setHeader('content-type', 'text/html')
        .end('<script type="module" src="/test/full/browser-page.js"></script>');
    } else {
      readFile(files[path] ?? join(built, path)).then(
        (content) => response.setHeader('content-type', types[extname(path)] ?? '').end(content),
        () => response.writeHead(404).end(),
      );
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    report,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
