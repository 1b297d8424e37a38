import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

// A process begins at the end of its input, when nobody can read its output any more.
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
