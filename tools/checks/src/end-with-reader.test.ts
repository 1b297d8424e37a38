import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

// A process begins at the end of its input, when no process can read its output.
const waiting = '--import=data:text/javascript,for await (const chunk of process.stdin);';

test.each(['images', 'publish-release', 'release'])('%s exits with 141 when its output is closed', async (script) => {
  const child = spawn(process.execPath, [waiting, `scripts/${script}.ts`, '--help'], { cwd: workspaceRoot });
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end();
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 141 });
});

test('pnpm generate exits with 141 when the reader of its errors has gone', async () => {
  const child = spawn(process.execPath, [waiting, 'tools/generate/src/main.ts', 'unknown'], { cwd: workspaceRoot });
  child.stderr.destroy();
  await once(child.stderr, 'close');
  child.stdin.end();
  const [stdout, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 141 });
});

test.skipIf(!existsSync('/dev/full')).each([
  ['scripts/release.ts', 74],
  ['tools/dev-environment/src/dev.ts', 1],
])('%s does not end in silence when the disk of its output is full', async (script, code) => {
  const command = `"$0" --conditions=deedwire-source "$1" --help > /dev/full`;
  const child = spawn('sh', ['-c', command, process.execPath, script], { cwd: workspaceRoot });
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, exitCode }).toEqual({
    stderr: 'The output cannot be written: ENOSPC: no space left on device, write\n',
    exitCode: code,
  });
});
