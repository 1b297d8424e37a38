import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';
import { beforeEach, expect, test } from 'vitest';
import { runAction } from '../test/support/action.ts';
import { folderForTest, writeIn } from '../test/support/folders.ts';
import { commitAll, initRepository } from '../test/support/git.ts';

const bin = 'node_modules/@deedwire/contract-check/dist/bin.js';

let scratch: string;
let checkout: string;
beforeEach(() => {
  scratch = folderForTest();
  checkout = join(scratch, 'checkout');
  writeIn(checkout, 'api/schema.graphql', 'type Query { a: Int }');
});

/** A package with a command. */
function packageWith(command: string): string {
  writeIn(scratch, 'package/package.json', { name: '@deedwire/contract-check', version: '1.0.0' });
  writeIn(scratch, 'package/dist/bin.js', command);
  const file = join(scratch, 'package.tgz');
  create({ file, cwd: scratch, sync: true, gzip: true }, ['package']);
  return file;
}

test('runs the package of its input, and nothing that the pull request contains', () => {
  const planted = `require('fs').writeFileSync(${JSON.stringify(join(scratch, 'started'))}, '')`;
  const files = {
    [bin]: planted,
    'node_modules/commander/index.js': planted,
    '.npmrc': 'registry=http://127.0.0.1:1/\nscript-shell=./shell\nnode-options=--require=./planted.js\n',
    'package.json': {
      name: 'x',
      version: '1.0.0',
      overrides: { '@deedwire/contract-check': 'file:.' },
      workspaces: ['*'],
    },
    'planted.js': planted,
  };
  for (const [path, content] of Object.entries(files)) writeIn(checkout, path, content);
  for (const path of Object.keys(files)) cpSync(join(checkout, path), join(checkout, 'api', path), { recursive: true });
  symlinkSync(join(scratch, 'started'), join(checkout, 'api/result.sarif'));
  initRepository(checkout);
  commitAll(checkout);
  const file = packageWith(`console.log(process.argv.includes('json') ? '{"verdict":"minor"}' : process.cwd())`);
  const result = runAction(scratch, checkout, {
    package: file,
    'working-directory': 'api',
    'sarif-file': 'result.sarif',
  });
  expect(result).toMatchObject({ status: 0, outputs: 'verdict=minor\npassed=true\n' });
  expect(result.stdout).toContain(`${checkout}/api\n`);
  expect(existsSync(join(scratch, 'started'))).toBe(false);
});

test('an error is one annotation, whatever its text contains', () => {
  const file = packageWith(`process.stderr.write('a: 100 %\\r\\n::error::forged\\n'); process.exitCode = 2;`);
  const { status, stdout, outputs } = runAction(scratch, checkout, { package: file });
  expect({ status, outputs }).toEqual({ status: 2, outputs: 'passed=false\n' });
  expect(stdout.split('\n').filter((line) => line.startsWith('::'))).toEqual([
    '::error title=contract-check::a: 100 %25%0D%0A::error::forged',
  ]);
});

const passing = `console.log(process.argv.includes('json') ? '{"verdict":"minor"}' : 'SARIF')`;

test.each([
  ['a working directory that does not exist', { 'working-directory': 'lost' }, /lost: .*ENOENT/],
  [
    'a folder of the report that does not exist',
    { 'sarif-file': 'lost/a.sarif' },
    /a\.sarif cannot be written: ENOENT/,
  ],
  ['a folder that is a link', { 'sarif-file': 'linked/a.sarif' }, /a\.sarif cannot be written: a symbolic link leads/],
])('%s is an annotation', (_, inputs, message) => {
  writeIn(scratch, 'outside/a.sarif', 'kept');
  symlinkSync(join(scratch, 'outside'), join(checkout, 'linked'));
  const { status, stdout, outputs } = runAction(scratch, checkout, { package: packageWith(passing), ...inputs });
  expect(status).toBe(2);
  expect(outputs).toMatch(/^(?:verdict=minor\n)?passed=false\n$/);
  expect(stdout).toMatch(new RegExp(`^::error title=contract-check::.*${message.source}`, 'm'));
  expect(readFileSync(join(scratch, 'outside/a.sarif'), 'utf8')).toBe('kept');
});

test.each(['', 'lost.tgz', 'other'])('a package without the command is an annotation: %j', (name) => {
  writeIn(scratch, 'other/package.json', { name: 'other', version: '1.0.0' });
  const path = name === '' ? '' : join(scratch, name);
  const { status, stdout, outputs } = runAction(scratch, checkout, { package: path });
  expect({ status, outputs }).toEqual({ status: 2, outputs: 'passed=false\n' });
  expect(stdout).toContain(
    `::error title=contract-check::npm cannot install contract-check from "${path}". Check the input "package" and the registry.\n`,
  );
});
