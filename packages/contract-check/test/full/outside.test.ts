import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeMonorepo, npm } from '../support/monorepo.ts';
import { command, packageFolder, packPackage, type CommandResult } from '../support/packed-package.ts';

// Runs the packed package outside this workspace: with each supported major of graphql, the oldest and the newest TypeScript, with
// npm, and as the action of GitHub. `test/long/package-managers.test.ts` has the other package managers.

const scratch = mkdtempSync(join(tmpdir(), 'contract-check-outside-'));
afterAll(() => rmSync(scratch, { recursive: true }));

let tarball = '';
beforeAll(() => {
  tarball = packPackage(scratch);
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
    command(process.execPath, [join(folder, 'node_modules/.bin/contract-check'), ...args], folder, {}, oldSdl);

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

describeMonorepo(npm, scratch, () => tarball);

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
