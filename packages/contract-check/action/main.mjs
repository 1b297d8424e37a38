// The entry of the GitHub Action. It uses only what Node contains, so that the folder needs no build.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const environment = process.env;

/** The value of an input. Empty if it is not set. */
function input(name) {
  return (environment[`INPUT_${name.toUpperCase()}`] ?? '').trim();
}

/**
 * Installs the package into a temporary folder, in which no settings of the checkout apply. Returns the file of the command, null if
 * there is none. What the checkout has in `node_modules` never runs: the pull request can have written it, or the lockfile from which
 * it was installed.
 */
function install(name) {
  const folder = mkdtempSync(join(environment['RUNNER_TEMP'] ?? tmpdir(), 'contract-check-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // npm is a script on Windows, which only a shell runs.
  const options = { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', name], options);
  const file = join(folder, 'node_modules/@deedwire/contract-check/dist/bin.js');
  return status === 0 && existsSync(file) ? file : null;
}

const folder = resolve(input('working-directory') || '.');
const command = input('command') || 'workspace';
const options = ['from', 'to', 'direction', 'declared', 'header', 'base', 'config'].flatMap((name) =>
  input(name) === '' ? [] : [`--${name}`, input(name)],
);

/** Runs the command and returns its result. */
function check(file, format) {
  const args = [file, command, ...options, '--format', format];
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  // For example because the working directory does not exist.
  if (error !== undefined) return { status: 2, stdout: '', stderr: `${folder}: ${error.message}` };
  return { status: status ?? 2, stdout, stderr };
}

function setOutput(name, value) {
  if (environment['GITHUB_OUTPUT']) appendFileSync(environment['GITHUB_OUTPUT'], `${name}=${value}\n`);
}

/** Prints an error as one annotation. */
function annotate(message) {
  const data = message.trim().replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::error title=contract-check::${data}\n`);
}

/** Returns the exit code of the command. */
function report(file) {
  const { status, stdout, stderr } = check(file, 'github');
  process.stdout.write(stdout);
  if (status === 2) {
    // Invalid usage or invalid input.
    annotate(stderr);
    return status;
  }
  setOutput('verdict', JSON.parse(check(file, 'json').stdout).verdict);
  if (environment['GITHUB_STEP_SUMMARY'])
    appendFileSync(environment['GITHUB_STEP_SUMMARY'], check(file, 'markdown').stdout);
  if (input('sarif-file') === '') return status;
  const path = resolve(folder, input('sarif-file'));
  try {
    writeInPlace(path, check(file, 'sarif').stdout);
  } catch (error) {
    annotate(`${path} cannot be written: ${error.message}`);
    return 2;
  }
  return status;
}

/** Writes a file. Links that the pull request contains, which could lead to other files of the runner, are not followed. */
function writeInPlace(path, text) {
  const parent = relative(folder, dirname(path));
  const isInside = !parent.startsWith('..') && resolve(folder, parent) === dirname(path);
  if (isInside && realpathSync(dirname(path)) !== join(realpathSync(folder), parent))
    throw new Error('a symbolic link leads out of its folder');
  rmSync(path, { force: true });
  writeFileSync(path, text);
}

const file = install(input('package'));
if (file === null)
  annotate(`npm cannot install contract-check from "${input('package')}". Check the input "package" and the registry.`);
process.exitCode = file === null ? 2 : report(file);
setOutput('passed', process.exitCode === 0);
