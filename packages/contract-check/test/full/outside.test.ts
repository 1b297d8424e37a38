import { spawnSync, execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Runs the packed package outside this workspace: with each supported major of graphql, package manager and TypeScript, and as
// the action of GitHub.

const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'contract-check-outside-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const environment = { ...process.env };

/** The PATH of a shell outside the workspace: without the folders of the package manager, with the Node of this test. */
const path = [
  join(process.execPath, '..'),
  ...(environment['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules')),
].join(delimiter);

interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function command(file: string, args: readonly string[], cwd: string, variables: NodeJS.ProcessEnv = {}): CommandResult {
  // With NODE_PATH, the package would find the dependencies of this workspace.
  const env = { ...environment, PATH: path, NODE_PATH: '', ...variables };
  return spawnSync(file, args, { cwd, env, encoding: 'utf8', input: oldSdl });
}

let tarball = '';

beforeAll(() => {
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'run', 'build'], { cwd: packageFolder, env: environment });
  const packed = join(scratch, 'packed');
  mkdirSync(packed);
  execFileSync('npx', ['-y', 'pnpm@12.21.0', 'pack', '--pack-destination', packed], {
    cwd: packageFolder,
    env: environment,
  });
  tarball = join(packed, readdirSync(packed)[0] ?? '');
});

/** A subgraph, which applies the directives of a framework that it does not define. */
const oldSdl = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

type Query {
  product(id: ID!): Product
}

type Product @key(fields: "id") {
  id: ID!
  name: String! @shareable
  price: Int
}
`;
const newSdl = oldSdl.replace('  name: String! @shareable\n', '  name: String @shareable\n  weight: Float\n');
const require = createRequire(import.meta.url);
/** The JSON Schemas of two drafts of JSON Schema, which another project published. */
const drafts = ['06', '07'].map((draft) => require.resolve(`ajv/dist/refs/json-schema-draft-${draft}.json`));

function folderWithContracts(parent = scratch): string {
  const folder = mkdtempSync(join(parent, 'contracts-'));
  writeFileSync(join(folder, 'old.graphql'), oldSdl);
  writeFileSync(join(folder, 'new.graphql'), newSdl);
  for (const [i, draft] of drafts.entries()) writeFileSync(join(folder, `${i}.json`), readFileSync(draft));
  writeFileSync(join(folder, 'old.manifest.json'), '{ "limits": { "depth": 10 } }');
  writeFileSync(join(folder, 'new.manifest.json'), '{ "limits": { "depth": 20 } }');
  return folder;
}

const graphql = ['graphql', '--from', 'old.graphql', '--to', 'new.graphql'];

/** npx installs the package for each call, so other tests run an installed one. */
test('npx runs the package in a folder without a package.json', () => {
  const args = ['--yes', `--package=${tarball}`, 'contract-check', ...graphql, '--declared', 'minor'];
  const { status, stdout, stderr } = command('npx', args, folderWithContracts());
  expect({ status, stderr: stderr.replaceAll(/^npm warn .*\n/gm, '') }).toEqual({ status: 1, stderr: '' });
  expect(stdout).toContain('  major  Product.name\n         The type changed from String! to String.');
});

/** The projects in which the package is installed, by the major version of graphql. */
const projects = new Map<string, string>();

describe.each(['16', '17'])('with graphql %s', (major) => {
  let folder = '';
  beforeAll(() => {
    folder = folderWithContracts();
    projects.set(major, folder);
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }');
    installWithNpm(folder, tarball, `graphql@${major}`);
  });

  const check = (...args: string[]): CommandResult =>
    command(process.execPath, [join(folder, 'node_modules/.bin/contract-check'), ...args], folder);

  const checked = (...args: string[]): unknown => JSON.parse(check(...args, '--format', 'json').stdout);

  test('runs every command', () => {
    expect(checked(...graphql)).toMatchObject({ verdict: 'major' });
    expect(checked('json-schema', '--from', '0.json', '--to', '1.json', '--direction', 'both')).toMatchObject({
      verdict: 'major',
    });
    expect(checked('manifest', '--from', 'old.manifest.json', '--to', 'new.manifest.json')).toMatchObject({
      verdict: 'minor',
    });
  });

  test('explains a rule with an example', () => {
    const { status, stdout } = check('explain', 'graphql/fieldRemoved');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('## Examples\n\n### ') });
  });

  const printed = (format: string): string => {
    const { status, stdout, stderr } = check(...graphql, '--declared', 'minor', '--format', format);
    expect({ format, status, stderr }).toEqual({ format, status: 1, stderr: '' });
    return stdout;
  };

  test('prints every format', () => {
    expect(printed('text')).toContain('  major  Product.name\n         The type changed from String! to String.');
    expect(JSON.parse(printed('json'))).toMatchObject({
      verdict: 'major',
      changes: [
        { rule: 'graphql/outputWidened', coordinate: 'Product.name', location: { file: 'new.graphql', line: 9 } },
        { rule: 'graphql/fieldAdded', coordinate: 'Product.weight', oldLocation: null },
      ],
    });
    expect(printed('github')).toContain('::error file=new.graphql,line=9,');
    expect(JSON.parse(printed('sarif'))).toMatchObject({ version: '2.1.0', runs: [{ results: [{}, {}] }] });
    expect(printed('markdown')).toContain('| **major** | `Product.name` |');
    expect(XMLValidator.validate(printed('junit'))).toBe(true);
  });

  test('exits 0 for a bump that is large enough, and reads the standard input', () => {
    const from = ['graphql', '--from', '-', '--to', 'new.graphql'];
    const { status, stdout } = check(...from, '--declared', 'major', '--format', 'json');
    expect({ status, verdict: JSON.parse(stdout).verdict }).toEqual({ status: 0, verdict: 'major' });
  });

  test('compares the JSON Schemas of another project', () => {
    const drafts6And7 = ['json-schema', '--from', '0.json', '--to', '1.json', '--direction', 'consumer'];
    const { status, stdout } = check(...drafts6And7, '--format', 'json');
    const { verdict, changes } = JSON.parse(stdout);
    expect({ status, verdict }).toEqual({ status: 0, verdict: 'major' });
    expect(changes).toContainEqual(
      expect.objectContaining({
        rule: 'json-schema/identityChanged',
        coordinate: '$',
        location: { file: '1.json', line: 1 },
      }),
    );
  });

  test('exits 2 with one line for invalid usage and invalid input', () => {
    writeFileSync(join(folder, 'broken.graphql'), 'type Query {\n  a:\n}');
    for (const [args, message] of [
      [['graphql', '--from', 'lost.graphql', '--to', 'new.graphql'], 'lost.graphql: file not found\n'],
      [
        ['graphql', '--from', 'old.graphql', '--to', 'broken.graphql'],
        'broken.graphql:3: Syntax Error: Expected Name, found "}".\n',
      ],
      [
        [...graphql, '--formt', 'json'],
        "contract-check graphql: unknown option '--formt' (Did you mean --format?). See contract-check graphql --help.\n",
      ],
    ] as const) {
      const { status, stdout, stderr } = check(...args);
      expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: message });
    }
  });

  test('exports the functions', () => {
    writeFileSync(
      join(folder, 'use.js'),
      `import { compareGraphql } from '@deedwire/contract-check';
       const sdl = (text) => ({ file: 'a.graphql', text });
       console.log(compareGraphql(sdl('type Query { a: Int }'), sdl('type Query { a: Int! }')).verdict);`,
    );
    expect(command(process.execPath, ['use.js'], folder).stdout).toBe('minor\n');
  });

  test('packs the expected files without settings of the workspace', () => {
    const installed = join(folder, 'node_modules/@deedwire/contract-check');
    const names = readdirSync(installed).filter((name) => name !== 'node_modules');
    expect(names.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'api',
      'config.schema.json',
      'dist',
      'manifest.schema.json',
      'package.json',
      'rule-ids.json',
    ]);
    expect(readFileSync(join(installed, 'package.json'), 'utf8')).not.toMatch(/deedwire-source|catalog:|workspace:/);
    expect(
      readdirSync(join(installed, 'dist'), { recursive: true }).some((name) => String(name).includes('.test.')),
    ).toBe(false);
  });
});

/** Reports the declarations of an entry point, with the TypeScript that the project has installed. */
function reportApi(folder: string): CommandResult {
  writeFileSync(join(folder, 'index.d.ts'), "export declare function post(kind: 'a' | 'b'): void;\n");
  return command(
    process.execPath,
    [join(folder, 'node_modules/.bin/contract-check'), 'api-report', 'index.d.ts'],
    folder,
  );
}

function installWithNpm(folder: string, ...packages: string[]): void {
  const { status, stderr } = command('npm', ['install', '--no-audit', '--no-fund', ...packages], folder);
  if (status !== 0) throw new Error(stderr);
}

describe('the API report', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(scratch, 'typescript-'));
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true }');
    installWithNpm(folder, tarball, 'graphql@17');
  });
  const remedy =
    'Install TypeScript 6 for this command, also beside TypeScript 7: npm install --save-dev @typescript/typescript6';

  test('names the package to install if TypeScript is missing', () => {
    expect(reportApi(folder)).toMatchObject({
      status: 2,
      stderr: `api-report: TypeScript is not installed. ${remedy}\n`,
    });
  });

  test('is generated by the oldest supported TypeScript, and beside the newest', () => {
    const declarations = { post: { kind: 'function', signature: "(kind: 'a' | 'b'): void" } };
    installWithNpm(folder, 'typescript@5.7');
    expect(JSON.parse(reportApi(folder).stdout).declarations).toEqual(declarations);
    installWithNpm(folder, 'typescript@7');
    expect(reportApi(folder).stderr).toMatch(
      /^api-report: TypeScript 7\.\S+ has no compiler API\. Install TypeScript 6 /,
    );
    installWithNpm(folder, '@typescript/typescript6');
    expect(JSON.parse(reportApi(folder).stdout).declarations).toEqual(declarations);
  });
});

const managers = [
  { name: 'npm', install: ['npm', 'install', '--no-audit', '--no-fund'], run: ['npx'], remedy: 'npx changeset' },
  {
    name: 'pnpm',
    install: ['npx', '-y', 'pnpm@12.21.0', 'install'],
    run: ['npx', '-y', 'pnpm@12.21.0', 'exec'],
    remedy: 'pnpm changeset',
  },
  {
    name: 'yarn 1',
    install: ['npx', '-y', 'yarn@1.22.22', 'install', '--no-progress'],
    run: ['npx', '-y', 'yarn@1.22.22', '--silent', 'run'],
    remedy: 'yarn changeset',
  },
  {
    name: 'yarn 4',
    install: ['npx', '-y', '--package=@yarnpkg/cli-dist@4.18.1', 'yarn', 'install'],
    run: ['npx', '-y', '--package=@yarnpkg/cli-dist@4.18.1', 'yarn', 'run'],
    remedy: 'yarn changeset',
  },
];

describe.each(managers)('in a monorepo of $name', ({ name, install, run, remedy }) => {
  let root = '';
  const sdl = 'type Query {\n  a: Int\n}\n';
  const part = 'extend type Query {\n  part: Int\n  other: Int\n}\n';
  const write = (fileName: string, text: string): void => {
    mkdirSync(dirname(join(root, fileName)), { recursive: true });
    writeFileSync(join(root, fileName), text);
  };
  const call = ([file = '', ...args]: readonly string[], folder = root): CommandResult =>
    command(file, args, folder, {
      YARN_NPM_REGISTRY_SERVER: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
      YARN_ENABLE_TELEMETRY: 'false',
    });
  const check = (...args: string[]): CommandResult => call([...run, 'contract-check', ...args]);

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(scratch, 'monorepo-')));
    const devDependencies = { '@deedwire/contract-check': `file:${tarball}`, graphql: '17' };
    write('package.json', JSON.stringify({ name: 'shop', private: true, workspaces: ['packages/*'], devDependencies }));
    if (name === 'pnpm') write('pnpm-workspace.yaml', 'packages: [packages/*]\n');
    if (name === 'yarn 4') write('yarn.lock', '');
    write('.gitignore', 'node_modules\n.yarn\n');
    write('.changeset/config.json', '{}');
    write('packages/api/package.json', '{ "name": "@shop/api", "version": "1.0.0" }');
    write('packages/api/versions/1.graphql', sdl);
    write('packages/api/parts/query.graphql', part);
    const { status, stdout, stderr } = call(install);
    if (status !== 0) throw new Error(stdout + stderr);
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    for (const args of [
      ['init', '--quiet', '--initial-branch=main'],
      ['add', '.'],
      ['commit', '--quiet', '-m', 'Release'],
    ])
      execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' });
  });

  test('a change needs a bump, which the remedy declares', () => {
    const gate = ['workspace', '--baseline', 'git:main'];
    expect(check(...gate)).toMatchObject({ status: 0 });
    write('packages/api/versions/1.graphql', sdl.replace('  a: Int\n', '  a: Int\n  b: Int\n'));
    const { status, stdout } = check(...gate);
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringContaining(`    ${remedy} add --minor @shop/api -m `),
    });
    expect(stdout).toContain('To fix: raise "version" in packages/api/package.json to 1.1.0, or declare a minor bump');
    write('packages/api/package.json', '{ "name": "@shop/api", "version": "1.1.0" }');
    expect(check(...gate)).toMatchObject({ status: 0 });
  });

  test('a part of a schema is compared with the main branch, and named from the root', () => {
    write('packages/api/parts/query.graphql', part.replace('  other: Int\n', ''));
    const pattern = 'packages/api/parts/*.graphql';
    const args = ['graphql', '--partial', '--from', `git:main:${pattern}`, '--to', pattern];
    expect(check(...args, '--format', 'github').stdout).toContain(
      '::warning file=packages/api/parts/query.graphql,line=1,',
    );
  });
});

describe('the GitHub Action', () => {
  const action = readFileSync(join(packageFolder, 'action/action.yml'), 'utf8');
  const [, using, main = ''] = /^runs:\n {2}using: (\w+)\n {2}main: (.+)\n/m.exec(action) ?? [];
  const entry = join(packageFolder, 'action', main);
  const defaults = Object.fromEntries(
    [...action.matchAll(/^ {2}([\w-]+):\n {4}description: .*\n {4}default: '?(.*?)'?$/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  );

  const declared = (section: string): string[] =>
    [...(new RegExp(`^${section}:\\n((?:  .*\\n)+)`, 'm').exec(action)?.[1] ?? '').matchAll(/^ {2}([\w-]+):$/gm)].map(
      ([, name = '']) => name,
    );

  /**
   * Runs the entry of action.yml as GitHub does: in the root of the repository, with the inputs, their defaults and the files
   * for outputs in the environment.
   */
  function runAction(folder: string, inputs: Readonly<Record<string, string>>) {
    const [outputs, summary] = ['outputs', 'summary'].map((name) => join(folder, name));
    for (const file of [outputs, summary]) writeFileSync(file ?? '', '');
    const { status, stdout } = command(process.execPath, [entry], folder, {
      GITHUB_WORKSPACE: folder,
      GITHUB_OUTPUT: outputs,
      GITHUB_STEP_SUMMARY: summary,
      RUNNER_TEMP: scratch,
      ...Object.fromEntries(
        Object.entries({ ...defaults, package: tarball, ...inputs }).map(([name, value]) => [
          `INPUT_${name.toUpperCase()}`,
          value,
        ]),
      ),
    });
    return {
      status,
      stdout,
      outputs: readFileSync(outputs ?? '', 'utf8'),
      summary: readFileSync(summary ?? '', 'utf8'),
    };
  }

  const inputs = { command: 'graphql', from: 'old.graphql', to: 'new.graphql', declared: 'minor' };

  test('installs the package, annotates, writes the summary, the outputs and SARIF, and fails', () => {
    const folder = folderWithContracts();
    const { status, stdout, outputs, summary } = runAction(folder, { ...inputs, 'sarif-file': 'result.sarif' });
    expect(stdout).toContain('::error file=new.graphql,line=9,title=major%3A Product.name (graphql/outputWidened)::');
    expect(outputs).toBe('verdict=major\npassed=false\n');
    expect(summary).toContain('| **major** | `Product.name` |');
    expect(JSON.parse(readFileSync(join(folder, 'result.sarif'), 'utf8')).runs[0].results).toHaveLength(2);
    expect(status).toBe(1);
  });

  test('annotates the files of a working directory from the root of the repository', () => {
    const root = mkdtempSync(join(projects.get('17') ?? scratch, 'repository-'));
    cpSync(folderWithContracts(), join(root, 'packages/api'), { recursive: true });
    const found = runAction(root, { ...inputs, 'working-directory': 'packages/api', 'sarif-file': 'result.sarif' });
    expect(found.stdout).toContain('::error file=packages/api/new.graphql,line=9,');
    const sarif = JSON.parse(readFileSync(join(root, 'packages/api/result.sarif'), 'utf8'));
    expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
      'packages/api/new.graphql',
    );
    expect(found.outputs).toBe('verdict=major\npassed=false\n');
  });

  test('passes if the bump is large enough, and uses the installed package', () => {
    const { status, outputs } = runAction(folderWithContracts(projects.get('17')), {
      ...inputs,
      declared: 'major',
      package: 'lost.tgz',
    });
    expect({ status, outputs }).toEqual({ status: 0, outputs: 'verdict=major\npassed=true\n' });
  });

  test('reports invalid input as an annotation', () => {
    const folder = folderWithContracts(projects.get('17'));
    const { status, stdout, outputs } = runAction(folder, { ...inputs, from: 'lost.graphql' });
    expect(stdout).toContain('::error title=contract-check::lost.graphql: file not found\n');
    expect({ status, outputs }).toEqual({ status: 2, outputs: 'passed=false\n' });
  });

  test('declares the inputs and outputs that the entry reads and writes', () => {
    const text = readFileSync(entry, 'utf8');
    expect({ using, main, defaults: Object.keys(defaults) }).toEqual({
      using: 'node24',
      main: 'main.mjs',
      defaults: ['command', 'working-directory', 'package'],
    });
    for (const name of declared('inputs')) expect(text).toContain(`'${name}'`);
    expect(declared('inputs')).toHaveLength(10);
    for (const name of declared('outputs')) expect(text).toContain(`setOutput('${name}'`);
    expect(declared('outputs')).toEqual(['verdict', 'passed']);
  });
});

function manifest(version: string, name = '@shop/api'): string {
  return JSON.stringify({ name, version });
}

describe.each([
  ['npm', 'npm', ['install', '--no-audit', '--no-fund', '--save-dev']],
  ['pnpm', 'npx', ['-y', 'pnpm@12.21.0', 'add', '--workspace-root', '--save-dev']],
] as const)('in a monorepo of %s, a pull request does not pass', (name, program, install) => {
  const parent = join(scratch, `monorepo-${name}`);
  const folder = join(parent, 'work');
  const api = 'packages/api/versions/2026-01-01.graphql';
  const released = 'packages/api/released/versions/2026-01-01.graphql';
  const whole = 'type Query {\n  a: Int\n  b: Int\n}\n';
  const broken = 'type Query {\n  a: Int\n}\n';

  function git(...args: string[]): void {
    const author = ['-c', 'commit.gpgsign=false', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    execFileSync('git', [...author, ...args], { cwd: folder, stdio: 'pipe' });
  }

  /** Commits files. Null removes a file or a folder. */
  function commit(files: Readonly<Record<string, string | null>>): void {
    for (const [file, text] of Object.entries(files)) {
      const target = join(folder, file);
      mkdirSync(join(target, '..'), { recursive: true });
      if (text === null) rmSync(target, { recursive: true });
      else writeFileSync(target, text);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message', 'A commit');
  }

  const check = (cwd = folder, ...args: string[]): CommandResult => {
    const bin = join(folder, 'node_modules/@deedwire/contract-check/dist/bin.js');
    return command(process.execPath, [bin, 'workspace', ...args], cwd, { GITHUB_ACTIONS: '', GITHUB_BASE_REF: '' });
  };

  /** Begins a branch that leaves main. */
  const branch = (): void => git('checkout', '--quiet', '-B', 'topic', 'origin/main');

  beforeAll(() => {
    mkdirSync(parent);
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', 'origin.git'], { cwd: parent });
    execFileSync('git', ['clone', '--quiet', 'origin.git', 'work'], { cwd: parent, stdio: 'pipe' });
    git('checkout', '--quiet', '-B', 'main');
    commit({
      '.gitignore': 'node_modules\n',
      'package.json': '{ "name": "shop", "private": true, "version": "0.0.0", "workspaces": ["packages/*"] }',
      'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
      'packages/api/package.json': manifest('0.0.0'),
    });
    const { status, stderr } = command(program, [...install, tarball, 'graphql@17'], folder);
    if (status !== 0) throw new Error(stderr);
    commit({ 'packages/api/package.json': manifest('1.0.0'), [api]: whole, [released]: whole });
    git('push', '--quiet', 'origin', 'main');
    git('remote', 'set-head', 'origin', 'main');
  });

  test('unless it breaks nothing', () => {
    branch();
    expect(check()).toMatchObject({ status: 0, stderr: '' });
    const exec = name === 'npm' ? ['npm', 'exec', '--'] : ['npx', '-y', 'pnpm@12.21.0', 'exec'];
    const [file, ...args] = [...exec, 'contract-check', 'release'];
    expect(command(file, args, folder)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^@shop\/api 1\.0\.0: commit [0-9a-f]{12} \(1\.0\.0\)/m),
    });
  });

  const exception = {
    package: '@shop/api',
    file: 'versions/2026-01-01.graphql',
    rule: 'graphql/fieldRemoved',
    coordinate: 'Query.b',
    verdict: 'none',
    reason: 'The field shows secrets.',
    expiresOn: '2999-12-31',
    approvedBy: 'Ada Example',
  };

  test.each([
    [
      'copies the broken version over released/',
      { [api]: broken, [released]: broken },
      'versions/2026-01-01.graphql breaks a released version',
    ],
    [
      'removes released/',
      { [api]: broken, 'packages/api/released': null },
      'versions/2026-01-01.graphql breaks a released version',
    ],
    [
      'renames the package',
      { [api]: broken, 'packages/api/package.json': manifest('1.0.0', '@shop/next') },
      '@shop/api was removed, which no bump allows',
    ],
    [
      'brings its own exception',
      { [api]: broken, 'contract-exceptions.json': JSON.stringify({ exceptions: [exception] }) },
      'merge the exception in an earlier pull request of its own',
    ],
  ])('if it %s', (_, files, message) => {
    branch();
    commit(files);
    const { status, stdout } = check();
    expect(stdout).toContain(message);
    expect(status).toBe(1);
  });

  test('if it deletes the entry of a contract and its file', () => {
    branch();
    const contracts = ['a', 'b'].map((file) => ({
      kind: 'graphql',
      folder: 'packages/api',
      files: [`${file}.graphql`],
    }));
    const listed = { kind: 'graphql', folder: 'packages/api', files: ['versions/*.graphql'] };
    commit({
      'contract-check.json': JSON.stringify({ contracts: [...contracts, listed] }),
      'packages/api/a.graphql': whole,
      'packages/api/b.graphql': whole,
      'packages/api/package.json': manifest('1.1.0'),
    });
    expect(check()).toMatchObject({ status: 0 });
    git('push', '--quiet', 'origin', 'topic:configured');
    commit({
      'contract-check.json': JSON.stringify({ contracts: [...contracts.slice(0, 1), listed] }),
      'packages/api/b.graphql': null,
    });
    const { status, stdout } = check(folder, '--base', 'origin/configured');
    expect(stdout).toContain('b.graphql was removed.');
    expect(stdout).toContain('the changes need a major bump, but no bump is declared.');
    expect(status).toBe(1);
  });

  test('in a shallow clone, which gets the command that completes it', () => {
    const url = pathToFileURL(join(parent, 'origin.git')).href;
    execFileSync('git', ['clone', '--quiet', '--depth=1', url, 'shallow'], { cwd: parent, stdio: 'pipe' });
    const { status, stdout, stderr } = check(join(parent, 'shallow'));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('git fetch --unshallow --tags');
  });

  test('while a tag and the commit of the version disagree', () => {
    branch();
    commit({ [api]: broken });
    git('tag', '@shop/api@1.0.0');
    expect(check()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('tag @shop/api@1.0.0: its contracts differ from those of commit'),
    });
    git('tag', '--delete', '@shop/api@1.0.0');
  });

  test('after main moved to a branch that had merged the release of main', () => {
    branch();
    commit({ [api]: broken });
    git('checkout', '--quiet', 'main');
    commit({ 'packages/api/package.json': manifest('1.0.1') });
    git('checkout', '--quiet', 'topic');
    git('merge', '--quiet', '--no-edit', 'main');
    git('push', '--quiet', 'origin', 'topic:main');
    branch();
    const { status, stdout } = check();
    expect(stdout).toContain('versions/2026-01-01.graphql breaks a released version');
    expect(status).toBe(1);
  });
});
