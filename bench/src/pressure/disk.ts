import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../bench.ts';
import { measurePressure, type Pressed } from './measure.ts';
import { withOurs } from './scene.ts';

const mebibytes = 3072;
const filled = 0.95;
const stepBytes = 16 * 1024 ** 2;
const inNamespace = 'DEEDWIRE_BENCH_MOUNTS';

export interface LeftOut {
  leftOut: string;
}

/**
 * Measures our contestant while the file system of the database is nearly full. The file system is in memory, and in a mount
 * namespace that ends with this phase.
 */
export async function measureDisk(options: BenchOptions): Promise<{ phases: Pressed[] } | LeftOut> {
  if (process.env[inNamespace] === undefined) return inMountNamespace(options);
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-bench-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=1777`, 'tmpfs', folder]);
  if (mounted.status !== 0) return { leftOut: 'This user may not mount a file system.' };
  try {
    const ballast = join(folder, 'ballast');
    const pressed = await withOurs(
      (scene) =>
        measurePressure(
          scene,
          {
            title: 'a file system that is 95 % full',
            interruptions: 0,
            async apply(_scene, { durationMs }) {
              await fill(folder, ballast);
              await sleep(durationMs);
              await truncate(ballast, 0);
            },
          },
          options,
        ),
      { folder },
    );
    return { phases: [pressed] };
  } finally {
    spawnSync('umount', [folder]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes zeros until the file system is filled as far as the phase says. */
async function fill(folder: string, ballast: string): Promise<void> {
  for (;;) {
    const { blocks, bfree } = await statfs(folder);
    if (1 - bfree / blocks >= filled) return;
    await writeFile(ballast, Buffer.alloc(stepBytes), { flag: 'a' });
  }
}

/** Runs this phase again as a program in a mount namespace. */
async function inMountNamespace({ quick, progress }: BenchOptions): Promise<{ phases: Pressed[] } | LeftOut> {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0)
    return { leftOut: 'This user may not make a mount namespace (unshare --mount).' };
  const [, main = ''] = process.argv;
  const program = [process.execPath, ...process.execArgv, main];
  const args = ['pressure', '--only', 'disk', '--json', ...(quick ? ['--quick'] : [])];
  progress('in a mount namespace');
  const child = spawn('unshare', ['--mount', ...program, ...args], {
    env: { ...process.env, [inNamespace]: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [json, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The phase in a mount namespace ended with exit code ${String(code)}.`);
  const { disk }: { disk: { phases: Pressed[] } | LeftOut } = JSON.parse(json);
  return disk;
}
