import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generateWebhookSecret, signWebhook } from '../src/index.ts';

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const typescriptFolder = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

let built = '';

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'webhook-signing-web-'));
});

afterAll(() => rm(built, { recursive: true }));

it('compiles with only the types of a browser', async () => {
  const options =
    '--ignoreConfig --strict --skipLibCheck false --declaration --target es2022 --lib es2022,dom --module nodenext --rewriteRelativeImportExtensions'.split(
      ' ',
    );
  const { stdout } = await run(process.execPath, [
    join(typescriptFolder, 'bin/tsc'),
    ...options,
    '--types',
    '',
    '--rootDir',
    join(packageFolder, 'src'),
    '--outDir',
    built,
    join(packageFolder, 'src/web.ts'),
  ]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

it('runs in a realm with only ECMAScript and web APIs', async () => {
  const secret = generateWebhookSecret();
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = signWebhook({ id: 'gid://service/WebhookDelivery/1', timestamp, body: '{}', secret });
  // A new realm has no `process`, `Buffer` or `require`, and modules are linked only to files of the package.
  const program = `
    import { readFile } from 'node:fs/promises';
    import { createContext, SourceTextModule } from 'node:vm';
    const context = createContext({ atob, btoa, crypto, TextEncoder });
    const modules = new Map();
    async function load(url) {
      if (url.protocol !== 'file:') throw new Error('imports ' + url);
      if (!modules.has(url.href)) modules.set(url.href, new SourceTextModule(await readFile(url, 'utf8'), { context, identifier: url.href }));
      return modules.get(url.href);
    }
    const web = await load(new URL('file://' + process.argv[1] + '/web.js'));
    await web.link((specifier, from) => load(new URL(specifier, from.identifier)));
    await web.evaluate();
    const { signWebhook, verifyWebhook, generateWebhookSecret, isWebhookSecret } = web.namespace;
    const { secret, timestamp, headers } = JSON.parse(process.argv[2]);
    const { id } = await verifyWebhook({ headers, body: '{}', secret });
    console.log(JSON.stringify({
      signed: await signWebhook({ id, timestamp, body: '{}', secret }),
      generated: isWebhookSecret(generateWebhookSecret()),
    }));
  `;
  const { stdout } = await run(process.execPath, [
    '--experimental-vm-modules',
    '--no-warnings',
    '--input-type=module',
    '--eval',
    program,
    built,
    JSON.stringify({ secret, timestamp, headers }),
  ]);
  expect(JSON.parse(stdout)).toStrictEqual({ signed: headers, generated: true });
});
