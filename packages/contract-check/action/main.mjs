// The entry of the GitHub Action. It uses only what Node contains, so that the folder needs no build.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const environment = process.env;
const bin = 'node_modules/@deedwire/contract-check/dist/bin.js';

/** The value of an input. Empty if it is not set. */
function input(name) {
  return (environment[`INPUT_${name.toUpperCase()}`] ?? '').trim();
}

/** The command that the working directory or a folder above it has installed. Undefined if there is none. */
function installedIn(folder) {
  const file = join(folder, bin);
  if (existsSync(file)) return file;
  return dirname(folder) === folder ? undefined : installedIn(dirname(folder));
}

/** Installs the package into a temporary folder. Returns the file of the command. */
function install(name) {
  const folder = mkdtempSync(join(environment['RUNNER_TEMP'] ?? tmpdir(), 'contract-check-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // npm is a script on Windows, which only a shell runs.
  const options = { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' };
  execFileSync('npm', ['install', '--no-audit', '--no-fund', name], options);
  return join(folder, bin);
}

const folder = resolve(input('working-directory') || '.');
const command = input('command') || 'workspace';
const options = ['from', 'to', 'direction', 'declared', 'header', 'base', 'config'].flatMap((name) =>
  input(name) === '' ? [] : [`--${name}`, input(name)],
);
const file = installedIn(folder) ?? install(input('package'));

/** Runs the command and returns its result. */
function check(format) {
  const args = [file, command, ...options, '--format', format];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return { status: status ?? 2, stdout, stderr };
}

function setOutput(name, value) {
  if (environment['GITHUB_OUTPUT']) appendFileSync(environment['GITHUB_OUTPUT'], `${name}=${value}\n`);
}

const annotations = check('github');
process.stdout.write(annotations.stdout);
if (annotations.status === 2) {
  // Invalid usage or invalid input: one line, which becomes the annotation.
  process.stdout.write(`::error title=contract-check::${annotations.stderr.trim().replaceAll('%', '%25')}\n`);
} else {
  setOutput('verdict', JSON.parse(check('json').stdout).verdict);
  if (environment['GITHUB_STEP_SUMMARY']) appendFileSync(environment['GITHUB_STEP_SUMMARY'], check('markdown').stdout);
  if (input('sarif-file') !== '') writeFileSync(resolve(folder, input('sarif-file')), check('sarif').stdout);
}
setOutput('passed', annotations.status === 0);
process.exitCode = annotations.status;
