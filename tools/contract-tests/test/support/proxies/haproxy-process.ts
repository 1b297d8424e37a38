import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// Guards against hanging only.
const startWithinMs = 60_000;

/**
 * Starts HAProxy, which has to be on the PATH.
 *
 * @param probe succeeds once HAProxy works
 */
export async function startHaproxyProcess(
  configuration: string,
  probe: () => Promise<unknown>,
): Promise<{ stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration);
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasEnded = true;
      resolve();
    });
  });
  async function stop(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true });
  }
  const works = (): Promise<boolean> =>
    probe().then(
      () => true,
      () => false,
    );
  const deadline = performance.now() + startWithinMs;
  while (!(await works())) {
    if (hasEnded || performance.now() > deadline) {
      await stop();
      throw new Error(`HAProxy did not start:\n${output}`);
    }
    await sleep(50);
  }
  return { stop };
}
