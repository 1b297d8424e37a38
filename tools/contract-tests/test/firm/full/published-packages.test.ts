import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { succeed } from '../../support/command.ts';
import { readJson } from '../../support/installed-packages.ts';
import { publishedPackages, readPackedPackages } from '../../support/packed-packages.ts';
import { compile, installWithCompilers } from '../support/typescript-consumer.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const project = await forFile(installWithCompilers(['5.9.3'], ['esbuild@0.28.2']));
const esbuild: { build(options: object): Promise<{ outputFiles: { text: string }[] }> } = createRequire(
  join(project.folder, 'package.json'),
)('esbuild');

// `long/packages.test.ts` runs the printed commands, of each package manager.
test('`pnpm packages` prints a command that installs each package with those that it needs', async () => {
  const { printed, tarballs } = await readPackedPackages();
  const commands = printed.match(/^npm install '.*'$/gm);
  expect(commands).toHaveLength(publishedPackages.length);
  const needed = ['signing', 'receiver'].map((name) => tarballs[`@deedwire/webhook-${name}`]);
  expect(commands).toContain(`npm install '${needed.join("' && npm install '")}'`);
});

/** Bundles a module as its users do. In a bundle for browsers, an import of a Node builtin or of a missing package fails. */
async function bundle(source: string, platform: 'browser' | 'node'): Promise<string> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: source, resolveDir: project.folder },
    bundle: true,
    format: 'esm',
    minify: true,
    platform,
    write: false,
  });
  return outputFiles.map(({ text }) => text).join('');
}

/** What a module imports, from where, for which platform, and the most kB that it adds to a minified bundle. */
const bundleSizes = [
  ['{ webhookEventTypes }', 'webhook-events/registry', 'browser', 4],
  ['{ currentVersion }', 'webhook-events', 'browser', 4],
  ['{ parseWebhookBody }', 'webhook-events', 'browser', 6.5],
  ['{ findEventVersion }', 'webhook-events', 'browser', 120],
  ['*', 'webhook-signing', 'node', 11],
  ['*', 'webhook-signing/web', 'browser', 11],
  ['*', 'webhook-receiver', 'browser', 22],
  ['*', 'webhook-receiver/graphile-worker', 'browser', 17],
  ['*', 'webhook-receiver/pg-boss', 'browser', 17],
  ['*', 'webhook-receiver/testing', 'browser', 7],
  ['*', 'webhook-receiver/express', 'browser', 4],
  ['*', 'webhook-receiver/fastify', 'browser', 4],
  ['*', 'webhook-receiver/hono', 'browser', 4],
  ['*', 'webhook-receiver/lambda', 'browser', 4],
  ['*', 'webhook-receiver/memory', 'browser', 4],
  ['*', 'webhook-receiver/next', 'browser', 4],
  ['*', 'webhook-receiver/node', 'browser', 4],
  ['*', 'webhook-receiver/postgres', 'browser', 13],
  ['*', 'webhook-receiver/pull', 'browser', 21],
  ['*', 'webhook-receiver/redis', 'browser', 4],
  ['*', 'webhook-receiver/workers', 'browser', 4],
  ['{ versions }', 'lender-schema', 'browser', 0.5],
  ['{ sdl }', 'lender-schema', 'browser', 198],
  ['{ versions }', 'partner-schema', 'browser', 0.5],
  ['{ sdl }', 'partner-schema', 'browser', 105],
] as const;

describe('a minified bundle', () => {
  test.each(bundleSizes)(
    'of %s from %s for the platform %s has at most %d kB, as the README says',
    async (exported, entryPoint, platform, kB) => {
      const bytes = Buffer.byteLength(await bundle(`export ${exported} from '@deedwire/${entryPoint}';\n`, platform));
      process.stdout.write(`${exported} from ${entryPoint}: ${bytes} bytes\n`);
      expect(bytes).toBeLessThanOrEqual(kB * 1000);
      const [name = ''] = entryPoint.split('/');
      const readme = readFileSync(join(project.folder, 'node_modules/@deedwire', name, 'README.md'), 'utf8');
      expect(readme).toMatch(new RegExp(`\\b${kB} kB\\b`));
    },
  );

  test('of the core of the receiver kit has at most 8.6 kB with gzip, as the README says', async () => {
    const bytes = gzipSync(await bundle("export * from '@deedwire/webhook-receiver';\n", 'browser')).byteLength;
    process.stdout.write(`The core of the receiver kit: ${bytes} bytes with gzip\n`);
    expect(bytes).toBeLessThanOrEqual(8_600);
    const folder = join(project.folder, 'node_modules/@deedwire/webhook-receiver');
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('22 kB to a minified bundle (8.6 kB with gzip)');
  });

  test('has a size for every entry point that has run-time code', () => {
    const measured = new Set<string>(bundleSizes.map(([, entryPoint]) => entryPoint));
    const entryPoints = [...new Set([...measured].map((entryPoint) => entryPoint.replace(/\/.*/, '')))].flatMap(
      (name) => {
        const manifest = readJson(join(project.folder, 'node_modules/@deedwire', name, 'package.json'));
        // A pattern exports the types of each version.
        const paths = Object.keys(manifest.exports).filter((path) => !path.includes('*') && !path.endsWith('.json'));
        return paths.map((path) => join(name, path));
      },
    );
    expect([...measured].toSorted()).toEqual(entryPoints.toSorted());
  });

  test('of parseWebhookBody parses a delivery and a malformed body', async () => {
    const code = await bundle("export { parseWebhookBody } from '@deedwire/webhook-events';\n", 'browser');
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

describe('the declarations compile without errors', () => {
  beforeAll(async () => {
    const manifests = globSync('node_modules/@deedwire/{lender,partner}-schema/versions/*.manifest.json', {
      cwd: project.folder,
    });
    if (manifests.length < 3) throw new Error(`Found ${manifests.length} manifests.`);
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
    await project.write(
      'loading.cts',
      "import { versions } from '@deedwire/lender-schema';\n" +
        "import { z } from '@deedwire/service';\n" +
        "import { parseWebhookBody } from '@deedwire/webhook-events';\n" +
        'console.log(z.int().parse(versions.length), parseWebhookBody(\'{"verification_token":"t0"}\').kind);\n',
    );
  });

  // `test/long` has every release that docs/es-modules.md names, in every kind of module.
  test.each([
    ['of this workspace', 'a bundled module', []],
    ['of this workspace', 'an ES module', ['manifests.mts', 'consumer.cts', 'application.cts', 'loading.cts']],
    // No later release has node10 without an option.
    ['5.9.3', 'an application of node10', []],
  ] as const)('with TypeScript %s in %s, together with %j', async (compiler, kind, files) => {
    expect(await compile(project, compiler, kind, files)).toBe('');
  });

  test('and those of service need no declarations of its dependencies but zod', async () => {
    const files = await compile(project, '5.9.3', 'an application of node10', ['--listFilesOnly']);
    const packages = [...files.matchAll(/^.*\/node_modules\/((?:@[^/]+\/)?[^/\n]+)/gm)].map(([, name = '']) => name);
    expect([...new Set(packages)].toSorted()).toEqual([
      '@deedwire/service',
      '@types/node',
      'typescript-5.9.3',
      'undici-types',
      'zod',
    ]);
  });

  // A compiler has written it.
  test('and a compiled CommonJS module loads the packages', async () => {
    const printed = await succeed(process.execPath, ['compiled/loading.cjs'], { cwd: project.folder });
    expect(printed).toBe('2 verification\n');
  });
});

/** With the maximum size of an installation in kB. A larger package probably contains unused files. */
describe.each([
  ['@deedwire/contract-check', 2_450],
  ['@deedwire/lender-schema', 1_065],
  ['@deedwire/partner-schema', 595],
  ['@deedwire/service', 4_650],
  ['@deedwire/webhook-events', 571],
  ['@deedwire/webhook-receiver', 1_010],
  ['@deedwire/webhook-signing', 260],
])('%s', (name, maximumKb) => {
  const files = (pattern: string): string[] => {
    const folder = join(project.folder, 'node_modules', name);
    return globSync(pattern, { cwd: folder, exclude: ['node_modules'] }).map((path) => join(folder, path));
  };

  test(`contains no tests and no sources, and takes at most ${maximumKb} kB`, () => {
    const all = files('**').filter((path) => statSync(path).isFile());
    const paths = all.map((path) => path.split(`${name}/`)[1] ?? path);
    expect(paths).toContain('package.json');
    expect(paths.filter((path) => /(?:^|\/)(?:test|fixtures|examples)\/|\.test(?:-d)?\.\w+$/.test(path))).toEqual([]);
    expect(paths.filter((path) => path.startsWith('src/') || /(?<!\.d)\.[cm]?ts$/.test(path))).toEqual([]);
    const kb = Math.ceil(all.reduce((bytes, path) => bytes + statSync(path).size, 0) / 1000);
    process.stdout.write(`${name}: ${kb} kB in ${all.length} files\n`);
    expect(kb).toBeLessThanOrEqual(maximumKb);
  });

  test('has no link in its pages that leads nowhere', () => {
    const broken = files('**/*.md').flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]+)/g)]
        .map(([, target = '']) => join(page, '..', target))
        .filter((target) => !target.includes(`node_modules/${name}/`) || !existsSync(target))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
    expect(readFileSync(files('README.md')[0] ?? '', 'utf8')).toContain('Nothing is published yet');
  });

  test('contains source maps of exactly the modules that have run-time code', () => {
    const scripts = files('dist/**/*.js');
    expect(scripts).not.toEqual([]);
    for (const script of scripts) {
      const code = readFileSync(script, 'utf8');
      const hasCode = !/^(?:\/\/.*\n|\/\*[^]*?\*\/\s*)*export \{\};\s*$/.test(code.replace(/^\/\/# .*$/m, ''));
      // Commands show their errors without a stack. With maps, service would have three times its size.
      const hasMap = hasCode && !/\/webhook-receiver\/dist\/cli\/|\/service\/dist\//.test(script);
      expect({ script, map: existsSync(`${script}.map`), named: code.includes('sourceMappingURL') }).toEqual({
        script,
        map: hasMap,
        named: hasMap,
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
