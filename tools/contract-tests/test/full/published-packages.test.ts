import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { installPackages, type InstalledPackages } from '../support/installed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const packages = [
  '@deedwire/contract-check',
  '@deedwire/lender-schema',
  '@deedwire/partner-schema',
  '@deedwire/webhook-events',
  '@deedwire/webhook-receiver',
  '@deedwire/webhook-signing',
];

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

let project: InstalledPackages;

beforeAll(async () => {
  const { version } = readJson(join(workspaceRoot, 'node_modules/@types/node/package.json'));
  const compilers = ['5.6.3', '5.7.3', '5.8.3'].map((release) => `typescript-${release}@npm:typescript@${release}`);
  project = await installPackages(packages, [...compilers, `@types/node@${version}`]);
});

afterAll(() => project.remove());

function readJson(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Bundles a module as a consumer for browsers does. */
async function bundle(name: string, source: string): Promise<string> {
  const input = await project.write(`${name}.js`, source);
  const build = await rolldown({ input, platform: 'browser' });
  const { output } = await build.generate({ minify: true });
  await build.close();
  expect(output).toHaveLength(1);
  return output[0].code;
}

describe('a minified bundle', () => {
  test.each([
    ['parseWebhookBody', 'webhook-events', 10_000],
    ['versions', 'lender-schema', 1_000],
    ['versions', 'partner-schema', 1_000],
    ['verifyWebhook', 'webhook-signing/web', 15_000],
    ['createWebhookReceiver', 'webhook-receiver', 40_000],
    ['memoryStore', 'webhook-receiver/memory', 2_000],
  ])('of %s of %s has at most the published size', async (name, entryPoint, maximumBytes) => {
    const code = await bundle('small', `export { ${name} } from '@deedwire/${entryPoint}';\n`);
    const bytes = Buffer.byteLength(code);
    process.stdout.write(`${name} of ${entryPoint}: ${bytes} bytes\n`);
    expect(bytes).toBeLessThanOrEqual(maximumBytes);
    // Node builtins and missing packages would stay imports.
    expect(code).not.toMatch(/\b(?:import|require)\b/);
  });

  test.each([
    ['sdl', 'lender-schema', 40_000],
    ['findEventVersion', 'webhook-events', 90_000],
  ])('of %s of %s contains what the small bundles do not', async (name, entryPoint, minimumBytes) => {
    const code = await bundle('large', `export { ${name} } from '@deedwire/${entryPoint}';\n`);
    expect(Buffer.byteLength(code)).toBeGreaterThan(minimumBytes);
  });

  test('of parseWebhookBody parses a delivery and a malformed body', async () => {
    const code = await bundle('receiver', "export { parseWebhookBody } from '@deedwire/webhook-events';\n");
    const { parseWebhookBody } = await import(pathToFileURL(await project.write('receiver.bundle.mjs', code)).href);
    const delivery = {
      id: 'gid://service/WebhookEvent/1',
      type: 'lender.updated',
      version: '2026-11-01',
      timestamp: '2026-11-03T09:30:00.123Z',
      data: { lenderId: 'gid://service/Lender/2', name: 'Harbour Lending' },
    };
    expect(parseWebhookBody(JSON.stringify(delivery))).toEqual({ kind: 'event', event: delivery });
    expect(parseWebhookBody(JSON.stringify({ ...delivery, data: { name: null } }))).toEqual({
      kind: 'malformed',
      problems: [
        'data.lenderId: Invalid input: expected string, received undefined',
        'data.name: Invalid input: expected string, received null',
      ],
    });
  });
});

/** Resolves with the output, which is empty. Rejects with the errors. */
function compile(release: string, options: readonly string[]): Promise<string> {
  const modules = release === 'of this workspace' ? workspaceRoot : project.folder;
  const compiler = release === 'of this workspace' ? 'typescript' : `typescript-${release}`;
  const shared = ['--strict', '--exactOptionalPropertyTypes', '--resolveJsonModule', '--esModuleInterop'];
  const target = ['--target', 'es2022', '--lib', 'es2022', '--types', 'node'];
  const script = join(modules, 'node_modules', compiler, 'bin/tsc');
  return succeed(process.execPath, [script, ...shared, ...target, ...options], { cwd: project.folder });
}

describe('the declarations compile without errors', () => {
  /** Fails to compile if a type is missing, wrong or `any`. */
  const consumer = `
import { compareApiReports } from '@deedwire/contract-check';
import { sdl, UnknownVersionError, versions, type Manifest, type SchemaVersion } from '@deedwire/lender-schema';
import type { ErrorCode, Lender } from '@deedwire/lender-schema/2026-11-01';
import lenderVersions from '@deedwire/lender-schema/versions.json' with { type: 'json' };
import type { Partner } from '@deedwire/partner-schema/2026-11-01';
import { findEventVersion, parseWebhookBody, type WebhookBody } from '@deedwire/webhook-events';
import packageManifest from '@deedwire/webhook-events/package.json' with { type: 'json' };
import type { ReferralConverted } from '@deedwire/webhook-events/referral.converted/2026-11-01';
import { createInboxReceiver, createWebhookReceiver } from '@deedwire/webhook-receiver';
import { postgresInbox } from '@deedwire/webhook-receiver/inbox';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { postgresStore } from '@deedwire/webhook-receiver/postgres';
import { signedRequest } from '@deedwire/webhook-receiver/testing';
import { workersHandler } from '@deedwire/webhook-receiver/workers';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { verifyWebhook as verifyOnWebCrypto } from '@deedwire/webhook-signing/web';

export const list: readonly SchemaVersion[] = versions;
export const names = (lender: Lender, partner: Partner): string[] => [lender.name, partner.name];
export const status: string = lenderVersions['2026-11-01'].status + packageManifest.version;
export const code: 'UNKNOWN_VERSION' = new UnknownVersionError('', []).code;
export const isLimit = (error: ErrorCode): boolean => error === 'RATE_LIMITED';

const body: WebhookBody = parseWebhookBody(new Uint8Array());
if (body.kind === 'event' && body.event.type === 'referral.converted' && body.event.version === '2026-11-01') {
  const event: ReferralConverted = body.event;
  event.data.matterId.toUpperCase();
}

export const receiver = createWebhookReceiver({
  secrets: [],
  store: memoryStore(),
  on: { 'referral.converted': { '2027-02-01': ({ data }) => data.matter.id.toUpperCase() } },
});
nodeHandler(receiver);
signedRequest('lender.updated', '2026-11-01', { data: { name: '' } });

// @ts-expect-error -- not declared
body.unknown;
// @ts-expect-error -- no type
createWebhookReceiver({ secrets: [], store: memoryStore(), on: { 'lender.renamed': {} } });
// @ts-expect-error -- no version of this type
signedRequest('lender.updated', '2027-02-01');
// @ts-expect-error -- no database
postgresStore(1);
// @ts-expect-error -- no database
postgresInbox(1, { on: {} });
// @ts-expect-error -- no inbox
createInboxReceiver({ secrets: [], inbox: {} });
// @ts-expect-error -- no receiver
workersHandler({});
// @ts-expect-error -- a misspelled value
export const misspelled: ErrorCode = 'RATE_LIMITTED';
// @ts-expect-error -- not a version
sdl(1);
// @ts-expect-error -- not an event type
findEventVersion(1, '');
// @ts-expect-error -- not declared
verifyWebhook({ headers: {}, body: '', secret: '' }).unknown;
// @ts-expect-error -- a promise
verifyOnWebCrypto({ headers: {}, body: '', secret: '' }).id;
// @ts-expect-error -- not declared
compareApiReports.unknown;
// @ts-expect-error -- not a manifest
export const manifest: Manifest = 1;
`;

  const modules = {
    'an ES module': { file: 'consumer.mts', options: ['--module', 'nodenext', '--moduleResolution', 'nodenext'] },
    'a CommonJS module': { file: 'consumer.cts', options: ['--module', 'nodenext', '--moduleResolution', 'nodenext'] },
    'a bundled module': { file: 'consumer.ts', options: ['--module', 'esnext', '--moduleResolution', 'bundler'] },
  };

  async function compileConsumer(release: string, kind: keyof typeof modules): Promise<string> {
    const { file, options } = modules[kind];
    // `import` of a CommonJS module compiles to `require`, which has no attributes.
    const source = kind === 'a CommonJS module' ? consumer.replaceAll(" with { type: 'json' }", '') : consumer;
    await project.write(file, source);
    return await compile(release, ['--noEmit', ...options, file]);
  }

  // The oldest releases are those in the READMEs. 5.7 is the first with `Uint8Array<ArrayBuffer>`, and 5.8 the first in which
  // a CommonJS module can import an ES module.
  test.each([
    ['5.7.3', 'an ES module'],
    ['5.7.3', 'a bundled module'],
    ['5.8.3', 'an ES module'],
    ['5.8.3', 'a CommonJS module'],
    ['5.8.3', 'a bundled module'],
    ['of this workspace', 'an ES module'],
    ['of this workspace', 'a CommonJS module'],
    ['of this workspace', 'a bundled module'],
  ] as const)('with TypeScript %s in %s', async (release, kind) => {
    expect(await compileConsumer(release, kind)).toBe('');
  });

  test.each([
    ['5.6.3', 'an ES module', 'TS2315'],
    ['5.7.3', 'a CommonJS module', 'TS1479'],
  ] as const)('but not with TypeScript %s in %s, which is older than the READMEs say', async (release, kind, code) => {
    await expect(compileConsumer(release, kind)).rejects.toThrow(`error ${code}`);
  });

  test('and each manifest fits the type `Manifest`, without further fields', async () => {
    const manifests = globSync('node_modules/@deedwire/{lender,partner}-schema/versions/*.manifest.json', {
      cwd: project.folder,
    });
    expect(manifests.length).toBeGreaterThanOrEqual(3);
    const checks = manifests.map((path, index) => {
      const [, name = '', date = ''] = /@deedwire\/(.*)\/versions\/(.*)\.manifest\.json$/.exec(path) ?? [];
      return [
        `import type { Manifest as Manifest${index} } from '@deedwire/${name}';`,
        `import manifest${index} from '@deedwire/${name}/${date}.manifest.json' with { type: 'json' };`,
        `export const imported${index}: Manifest${index} = manifest${index};`,
        // The compiler reports unknown fields of an object literal only.
        `export const literal${index}: Manifest${index} = ${readFileSync(join(project.folder, path), 'utf8')};`,
      ].join('\n');
    });
    await project.write('manifests.mts', checks.join('\n'));
    for (const release of ['5.7.3', 'of this workspace'])
      expect(await compile(release, ['--noEmit', ...modules['an ES module'].options, 'manifests.mts'])).toBe('');
  });

  test('and a compiled CommonJS module loads the packages', async () => {
    const { file, options } = modules['a CommonJS module'];
    await project.write(
      file,
      "import { versions } from '@deedwire/lender-schema';\n" +
        "import { parseWebhookBody } from '@deedwire/webhook-events';\n" +
        'console.log(versions.length, parseWebhookBody(\'{"verification_token":"t0"}\').kind);\n',
    );
    await compile('5.8.3', [...options, file]);
    expect(await succeed(process.execPath, ['consumer.cjs'], { cwd: project.folder })).toBe('2 verification\n');
  });
});

describe.each(packages)('%s', (name) => {
  const files = (pattern: string): string[] =>
    globSync(pattern, { cwd: join(project.folder, 'node_modules', name) }).map((path) =>
      join(project.folder, 'node_modules', name, path),
    );

  test('contains source maps of exactly the modules that have run-time code', () => {
    const scripts = files('dist/**/*.js');
    expect(scripts).not.toEqual([]);
    for (const script of scripts) {
      const code = readFileSync(script, 'utf8');
      const hasCode = !/^(?:\/\/.*\n|\/\*[^]*?\*\/\s*)*export \{\};\s*$/.test(code.replace(/^\/\/# .*$/m, ''));
      expect({ script, map: existsSync(`${script}.map`), named: code.includes('sourceMappingURL') }).toEqual({
        script,
        map: hasCode,
        named: hasCode,
      });
    }
  });

  test('exports its package.json, and versions.json if it has one', async () => {
    const script = `
      const read = async (path) => (await import(path, { with: { type: 'json' } })).default;
      const found = [await read('${name}/package.json')];
      if (${files('versions.json').length > 0}) found.push(await read('${name}/versions.json'));
      console.log(JSON.stringify(found));`;
    const printed = await succeed(process.execPath, ['--input-type=module', '--eval', script], { cwd: project.folder });
    expect(JSON.parse(printed)).toEqual([...files('package.json'), ...files('versions.json')].map(readJson));
  });
});
