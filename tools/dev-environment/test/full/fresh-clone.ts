import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { workspaceRoot } from '../../src/workspace.ts';

export interface FreshClone {
  path: string;
  /** Runs a command line in a shell with the environment of a new user. The child leads its own process group. */
  run(line: string, env?: Record<string, string>): ChildProcess;
  remove(): Promise<void>;
}

/** Clones the workspace, with its uncommitted changes and without ignored files. Nothing is installed. */
export async function freshClone(): Promise<FreshClone> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-clone-'));
  const path = join(folder, 'deedwire');
  await git('clone', '--quiet', workspaceRoot, path);
  const changed = await git('ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard');
  for (const file of new Set(changed.split('\0').filter((name) => name !== ''))) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await cp(join(workspaceRoot, file), join(path, file)).catch(() => rm(join(path, file), { force: true }));
  }
  return {
    path,
    run: (line, env = {}) =>
      spawn('sh', ['-c', line], {
        cwd: path,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...userEnvironment(), ...env },
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function git(...gitArguments: string[]): Promise<string> {
  const options = { cwd: workspaceRoot, maxBuffer: 64 << 20 };
  return (await promisify(execFile)('git', gitArguments, options)).stdout;
}

/** Waits until the child ends. Returns its output and its exit code. */
export async function finished(child: ChildProcess): Promise<{ exitCode: number | null; stdout: string; all: string }> {
  let stdout = '';
  let all = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (all += text));
  await once(child, 'close');
  return { exitCode: child.exitCode, stdout, all };
}

/** The environment without the variables of pnpm, Node and the test runner, which a new user's shell does not have. */
function userEnvironment(): NodeJS.ProcessEnv {
  const own = process.env;
  const kept = ['HOME', 'LANG', 'TMPDIR', 'NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'npm_config_registry'];
  const names = [...kept, ...Object.keys(own).filter((name) => /proxy$/i.test(name))];
  const path = (own['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  return { ...Object.fromEntries(names.map((name) => [name, own[name]])), PATH: path.join(delimiter) };
}
