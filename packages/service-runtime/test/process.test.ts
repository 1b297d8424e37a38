import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const program = fileURLToPath(new URL('sample-service.ts', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', program], {
    env: { PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

test.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s, even when the signal arrives twice', async (signal) => {
  const child = run({});
  const lines = createInterface(child.stdout);
  const logged: { msg: string; url?: string }[] = [];
  const listening = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      const entry = JSON.parse(line);
      logged.push(entry);
      if (entry.msg === 'listening') resolve(entry.url);
    });
  });
  expect((await fetch(`${await listening}/health`)).status).toBe(200);
  child.kill(signal);
  child.kill(signal);
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
  expect(logged.map(({ msg }) => msg).filter((msg) => msg !== 'ready')).toEqual(['listening', 'stopping', 'stopped']);
});

test('exits with 1 and writes all problems to standard error when the configuration is invalid', async () => {
  const child = run({ PORT: 'x', LOG_LEVEL: 'y' });
  let text = '';
  for await (const chunk of child.stderr) text += String(chunk);
  if (child.exitCode === null) await once(child, 'close');
  expect(child.exitCode).toBe(1);
  expect(text).toMatch(/^The configuration is invalid:\n {2}PORT must be .*\n {2}LOG_LEVEL must be .*\n$/);
});
