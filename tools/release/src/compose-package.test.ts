import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { composePackage } from './compose-package.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compose-package-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Made {
  dependencies?: Record<string, string>;
  isPublic?: boolean;
  files?: string[];
}

const entry = (module: string) => ({
  'deedwire-source': `./src/${module}.ts`,
  types: `./dist/${module}.d.ts`,
  default: `./dist/${module}.js`,
});

/** A built package. */
function make(name: string, texts: Record<string, string>, { dependencies = {}, isPublic = false, files }: Made = {}) {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, 'README.md'), name);
  const manifest = {
    name: `@deedwire/${name}`,
    version: '1.2.3',
    ...(isPublic ? { publishConfig: { access: 'public', directory: 'packed' } } : { private: true }),
    type: 'module',
    files: files ?? ['dist'],
    exports: { '.': entry('index'), './part': entry('part'), './package.json': './package.json' },
    scripts: { build: 'tsc' },
    dependencies,
    devDependencies: { vitest: 'catalog:' },
  };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  for (const dependency of Object.keys(dependencies).filter((each) => each.startsWith('@deedwire/'))) {
    mkdirSync(join(root, 'node_modules/@deedwire'), { recursive: true });
    symlinkSync(join(folder, dependency.replace('@deedwire/', '')), join(root, 'node_modules', dependency));
  }
}

async function compose(): Promise<(path: string) => string> {
  await composePackage(join(folder, 'app'));
  return (path) => readFileSync(join(folder, 'app/packed', path), 'utf8');
}

// Not as a text: a check reads what files import.
const scope = '@deedwire';

test('copies what the package needs of private packages, however deep, with relative imports', async () => {
  make('signing', { 'dist/index.js': '' }, { isPublic: true });
  make('core', {
    'dist/index.js': 'export const core = 1;\n//# sourceMappingURL=index.js.map\n',
    'dist/index.js.map': '{}',
    'dist/index.d.ts': 'export declare const core = 1;\n',
    'dist/part.js': 'export const part = 1;\n',
  });
  make(
    'store',
    {
      'dist/index.js': `import { core } from '${scope}/core';\nexport * from "${scope}/core/part";\n`,
      'dist/deep/lazy.js': `const { sign } = await import('${scope}/signing');\nrequire.resolve('${scope}/core/package.json');\n`,
      'migrations/1.sql': 'select 1;',
    },
    {
      dependencies: { '@deedwire/core': 'workspace:^', '@deedwire/signing': 'workspace:^', zod: 'catalog:' },
      files: ['dist', 'migrations'],
    },
  );
  make(
    'app',
    {
      'dist/index.js': `import '${scope}/store';\nexport const text = 'of @deedwire/store';\n`,
      'dist/index.d.ts': `export type { core } from '${scope}/core';\n`,
    },
    {
      dependencies: {
        '@deedwire/core': 'workspace:*',
        '@deedwire/signing': 'workspace:^',
        '@deedwire/store': 'workspace:*',
      },
      isPublic: true,
    },
  );
  const read = await compose();
  expect(read('dist/index.js')).toBe(
    `import '../private/store/dist/index.js';\nexport const text = 'of @deedwire/store';\n`,
  );
  expect(read('dist/index.d.ts')).toBe(`export type { core } from '../private/core/dist/index.js';\n`);
  expect(read('private/store/dist/index.js')).toBe(
    `import { core } from '../../core/dist/index.js';\nexport * from "../../core/dist/part.js";\n`,
  );
  expect(read('private/store/dist/deep/lazy.js')).toBe(
    `const { sign } = await import('${scope}/signing');\nrequire.resolve('../../../core/package.json');\n`,
  );
  expect(read('private/store/migrations/1.sql')).toBe('select 1;');
  expect(read('private/core/dist/index.js')).toBe('export const core = 1;\n');
  expect(read('README.md')).toBe('app');
  expect(() => read('private/core/dist/index.js.map')).toThrow('ENOENT');
  expect(JSON.parse(read('package.json'))).toEqual({
    name: '@deedwire/app',
    version: '1.2.3',
    type: 'module',
    files: ['dist', 'private'],
    main: './dist/index.js',
    types: './dist/index.d.ts',
    typesVersions: { '*': { part: ['./dist/part.d.ts'] } },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './part': { types: './dist/part.d.ts', default: './dist/part.js' },
      './package.json': './package.json',
    },
    dependencies: { '@deedwire/signing': '^1.2.3', zod: expect.stringMatching(/^\^4\./) },
  });
});

test('leaves out what an earlier build wrote of a source that is no longer there', async () => {
  const texts = {
    'tsconfig.build.json': '{}',
    'src/index.ts': '',
    'dist/index.js': '',
    'dist/index.d.ts': '',
    'dist/older.js': `import '${scope}/none';`,
  };
  make('app', texts, { isPublic: true });
  const read = await compose();
  expect(read('dist/index.d.ts')).toBe('');
  expect(() => read('dist/older.js')).toThrow('ENOENT');
});

test('refuses what no package exports, and a package that is not built', async () => {
  make('core', { 'dist/index.js': '' });
  make(
    'app',
    { 'dist/index.js': `import '${scope}/core/other';` },
    { dependencies: { '@deedwire/core': 'workspace:^' }, isPublic: true },
  );
  await expect(compose()).rejects.toThrow(
    '@deedwire/app imports @deedwire/core/other, which @deedwire/core does not export.',
  );
  rmSync(join(folder, 'core/dist'), { recursive: true });
  await expect(compose()).rejects.toThrow('@deedwire/core has no dist: build it first.');
});

test('refuses a package that is in it and not among its dependencies', async () => {
  make('core', { 'dist/index.js': '' });
  make('store', { 'dist/index.js': '' }, { dependencies: { '@deedwire/core': 'workspace:^' } });
  make('app', { 'dist/index.js': '' }, { dependencies: { '@deedwire/store': 'workspace:*' }, isPublic: true });
  await expect(compose()).rejects.toThrow(
    '@deedwire/app contains @deedwire/store, which needs @deedwire/core. Add it to its dependencies.',
  );
});
