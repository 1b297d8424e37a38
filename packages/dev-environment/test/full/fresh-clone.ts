import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { workspaceRoot } from '../../src/workspace.ts';

export interface FreshClone {
  path: string;
  /** Runs a line as a shell would for somebody who has just cloned. It leads a process group of its own. */
  run(line: string, env?: Record<string, string>): ChildProcess;
  remove(): Promise<void>;
}

/** The tree as a clone of its next commit would have it: nothing that is ignored, nothing installed, an empty store. */
export async function freshClone(): Promise<FreshClone> {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-clone-'));
  const path = join(folder, 'deedwire');
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', list, { cwd: workspaceRoot, maxBuffer: 64 << 20 });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await copyFile(join(workspaceRoot, file), join(path, file));
  }
  const git = promisify(execFile);
  await git('git', ['init', '--quiet'], { cwd: path });
  await git('git', ['add', '--all'], { cwd: path });
  return {
    path,
    run: (line, env = {}) =>
      spawn('sh', ['-c', line], {
        cwd: path,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...userEnvironment(),
          XDG_DATA_HOME: join(folder, 'data'),
          XDG_CACHE_HOME: join(folder, 'cache'),
          ...env,
        },
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Everything that it writes until it ends, and how it ended. */
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

/** Without what pnpm, Node and the test runner have put into ours: a newcomer's shell has none of it. */
function userEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- the newcomer's is derived from it
  const own = process.env;
  const kept = ['HOME', 'LANG', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'npm_config_registry'];
  const names = [...kept, ...Object.keys(own).filter((name) => /proxy$/i.test(name))];
  const path = (own['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  return { ...Object.fromEntries(names.map((name) => [name, own[name]])), PATH: path.join(delimiter) };
}
