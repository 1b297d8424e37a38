import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// Guards against hanging only.
const startWithinMs = 60_000;

/** The programs, which have to be on the PATH, with their arguments before the file of the configuration. */
const commands = {
  haproxy: ['-db', '-f'],
  caddy: ['run', '--adapter', 'caddyfile', '--config'],
};

/** @param probe succeeds once the proxy works */
export async function startProxyProcess(
  program: keyof typeof commands,
  configuration: string,
  probe: () => Promise<unknown>,
): Promise<{ signal: (signal: NodeJS.Signals) => void; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `${program}-`));
  const file = join(folder, 'configuration');
  await writeFile(file, configuration);
  // Caddy writes to its home folder.
  const env = { ...process.env, HOME: folder };
  const child = spawn(program, [...commands[program], file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
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
      throw new Error(`${program} did not start:\n${output}`);
    }
    await sleep(50);
  }
  return { signal: (signal) => void child.kill(signal), stop };
}
