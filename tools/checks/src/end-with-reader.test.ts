import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

test.each(['images', 'publish-release', 'release'])('%s ends quietly when nobody reads its output', async (script) => {
  const child = spawn(process.execPath, [`scripts/${script}.ts`, '--help'], { cwd: workspaceRoot });
  child.stdout.destroy();
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 141 });
});
