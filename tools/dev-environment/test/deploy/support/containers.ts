import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@deedwire/testing';
import { workspaceRoot } from '../../../src/workspace.ts';

/** Podman and Buildah with their own storage, apart from the images and containers of the machine. */
export interface Containers {
  /** Settings of Podman and Buildah. */
  env: Readonly<Record<string, string>>;
}

export interface Output {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** True if a test has to be skipped, because a program is missing. Under CI, the test runs, and fails. */
export function isWithout(...programs: string[]): boolean {
  return process.env['CI'] !== 'true' && programs.some((program) => findProgram(program) === undefined);
}

/** What the images and Podman need. Only root may set up networks and mounts as these tests do. */
export const isWithoutContainers = (): boolean =>
  process.env['CI'] !== 'true' && (process.getuid?.() !== 0 || isWithout('buildah', 'podman', 'runc', 'mmdebstrap'));

/** Writes the settings of Podman and Buildah to a folder, which will also contain their images. */
export async function configureContainers(folder: string): Promise<Containers> {
  await mkdir(join(folder, 'networks'), { recursive: true });
  const storage = join(folder, 'storage.conf');
  const containers = join(folder, 'containers.conf');
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/storage"\n`,
  );
  const hasNetavark = ['lib', 'libexec'].some((path) => existsSync(`/usr/${path}/podman/netavark`));
  await writeFile(
    containers,
    [
      '[containers]',
      // A machine without CAP_SYS_RESOURCE cannot raise limits.
      'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
      'log_driver = "k8s-file"',
      '[engine]',
      // crun rejects machines with both versions of cgroups.
      'runtime = "runc"',
      'cgroup_manager = "cgroupfs"',
      'events_logger = "file"',
      `tmp_dir = "${folder}/tmp"`,
      '[network]',
      `network_backend = "${hasNetavark ? 'netavark' : 'cni'}"`,
      `network_config_dir = "${folder}/networks"`,
      '',
    ].join('\n'),
  );
  return {
    env: {
      CONTAINERS_CONF: containers,
      CONTAINERS_STORAGE_CONF: storage,
      // Podman runs the probes with timers of systemd, which a container does not have.
      DISABLE_HC_SYSTEMD: 'true',
      NO_COLOR: '1',
    },
  };
}

/** Runs a program with the settings. Does not throw if it fails. */
export async function tryRun(
  { env }: Containers,
  program: string,
  programArguments: readonly string[],
  further: Readonly<Record<string, string>> = {},
): Promise<Output> {
  const inherited = process.env;
  const options = { cwd: workspaceRoot, env: { ...inherited, ...env, ...further }, maxBuffer: 2 ** 26 };
  try {
    return { exitCode: 0, ...(await promisify(execFile)(program, programArguments, options)) };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    return { exitCode: typeof code === 'number' ? code : -1, stdout, stderr: `${String(code)} ${stderr}` };
  }
}

/**
 * Runs a program with the settings and returns its standard output.
 *
 * @throws {Error} if it fails
 */
export async function run(...parameters: Parameters<typeof tryRun>): Promise<string> {
  const [, program, programArguments] = parameters;
  const { exitCode, stdout, stderr } = await tryRun(...parameters);
  if (exitCode === 0) return stdout.trim();
  throw new Error(`${program} ${programArguments.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
}

/** Runs `pnpm images` and returns the ids of the images that it printed, by app. */
export async function buildImages(
  containers: Containers,
  options: readonly string[],
  further: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const script = join(workspaceRoot, 'scripts/images.ts');
  // The umask differs from that of most users, and must not be seen in an image.
  const shell = ['-c', 'umask "$1"; shift; exec "$@"', 'sh', further['UMASK'] ?? '022'];
  const output = await run(containers, 'sh', [...shell, process.execPath, script, ...options], further);
  const lines = output.matchAll(/^\S*\/([\w-]+):\S+ sha256:([0-9a-f]{64})$/gm);
  return Object.fromEntries(Array.from(lines, ([, app = '', id = '']) => [app, id]));
}
