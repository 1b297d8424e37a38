import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listen } from '@deedwire/testing';
import { useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, expect, it } from 'vitest';

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const browser = useBrowser('webhook-signing');

let built = '';

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'webhook-signing-browser-'));
});

afterAll(() => rm(built, { recursive: true }));

it.skipIf(browser.isAbsent)('passes every test vector in a browser', async () => {
  const script = join(packageFolder, 'test/full/browser-page.ts');
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
    script,
  ]);

  const { url, report, close } = await servePage();
  try {
    const { page } = await browser.open(url);
    await page.goto(url);
    const vectors = JSON.parse(await readFile(join(packageFolder, 'test-vectors.json'), 'utf8'));
    const { secrets, sign, verify } = vectors;
    const passed = secrets.valid.length + secrets.invalid.length + sign.length + verify.length + 1;
    expect(await report).toEqual({ passed, failed: [] });
  } finally {
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
  const listening = await listen(server);
  return { url: `http://127.0.0.1:${listening.port}/`, report, close: () => listening.close() };
}
