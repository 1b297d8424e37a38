import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

test.each(['images', 'publish-release', 'release'])('%s exits with 141 when its output is closed', async (script) => {
  const child = spawn(process.execPath, [`scripts/${script}.ts`, '--help'], { cwd: workspaceRoot });
  child.stdout.destroy();
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 141 });
});

test('pnpm generate exits with 141 when the reader of its errors has gone', async () => {
  const child = spawn(process.execPath, ['tools/generate/src/main.ts', 'unknown'], { cwd: workspaceRoot });
  child.stderr.destroy();
  const [stdout, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 141 });
});
