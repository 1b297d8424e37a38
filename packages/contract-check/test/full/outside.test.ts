import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { declared, entry, runAction } from '../support/action.ts';
import { folderForFile } from '../support/folders.ts';
import { folderWithContracts, runInstalled, testInstalledPackage } from '../support/installed-package.ts';
import { createMonorepo, describeMonorepo, npm, type Monorepo } from '../support/monorepo.ts';
import { packedPackage } from '../support/packed-package.ts';

// Runs the packed package outside this workspace. All tests share one installation. `test/long/` has the other package managers,
// the other versions of graphql and TypeScript, and npx.

const scratch = folderForFile();

let monorepo: Monorepo;
let consumer = '';
let tarball = '';
beforeAll(async () => {
  tarball = await packedPackage();
  monorepo = createMonorepo(npm, scratch, tarball);
  consumer = join(monorepo.root, 'consumer');
  mkdirSync(consumer);
});

describeMonorepo(npm, () => monorepo);

describe('with the newest graphql', () => {
  testInstalledPackage(() => monorepo.root);
});

test('an API report names the package to install if TypeScript is missing', () => {
  writeFileSync(join(consumer, 'index.d.ts'), 'export declare function post(): void;\n');
  expect(runInstalled(monorepo.root, consumer, 'api-report', 'index.d.ts')).toMatchObject({
    status: 2,
    stderr:
      'api-report: TypeScript is not installed. Install TypeScript 6 for this command, even beside TypeScript 7: npm install --save-dev @typescript/typescript6\n',
  });
});

describe('the GitHub Action', () => {
  const inputs = { command: 'graphql', from: 'old.graphql', to: 'new.graphql', declared: 'minor' };

  test('annotates, writes the summary, the outputs and SARIF from the root of the repository, and fails', () => {
    const folder = folderWithContracts(consumer);
    const path = relative(monorepo.root, folder);
    const options = { 'working-directory': path, 'sarif-file': 'result.sarif' };
    const { status, stdout, outputs, summary } = runAction(scratch, monorepo.root, {
      ...inputs,
      ...options,
      package: tarball,
    });
    expect(stdout).toContain(
      `::error file=${path}/new.graphql,line=9,title=major%3A Product.name (graphql/outputWidened)::`,
    );
    expect(outputs).toBe('verdict=major\npassed=false\n');
    expect(summary).toContain('| **major** | `Product.name` |');
    const { results } = JSON.parse(readFileSync(join(folder, 'result.sarif'), 'utf8')).runs[0];
    expect(results).toHaveLength(2);
    expect(results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(`${path}/new.graphql`);
    expect(status).toBe(1);
  });

  test('passes if the bump is large enough', () => {
    const { status, outputs } = runAction(scratch, folderWithContracts(consumer), {
      ...inputs,
      declared: 'major',
      package: tarball,
    });
    expect({ status, outputs }).toEqual({ status: 0, outputs: 'verdict=major\npassed=true\n' });
  });

  test('reports invalid input as an annotation', () => {
    const { status, stdout, outputs } = runAction(scratch, folderWithContracts(consumer), {
      ...inputs,
      package: tarball,
      from: 'lost.graphql',
    });
    expect(stdout).toContain('::error title=contract-check::lost.graphql: file not found\n');
    expect({ status, outputs }).toEqual({ status: 2, outputs: 'passed=false\n' });
  });

  test('declares the inputs and outputs that the entry reads and writes', () => {
    const text = readFileSync(entry, 'utf8');
    expect(declared).toMatchObject({
      using: 'node24',
      main: 'main.mjs',
      defaults: ['command', 'working-directory', 'package'],
      outputs: ['verdict', 'passed'],
    });
    for (const name of declared.inputs) expect(text).toContain(`'${name}'`);
    expect(declared.inputs).toHaveLength(11);
    for (const name of declared.outputs) expect(text).toContain(`setOutput('${name}'`);
  });
});
