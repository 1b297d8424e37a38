import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

test.each(['15', '16', '17', '18'])('every integration test passes on PostgreSQL %s', async (major) => {
  const run = spawn(process.execPath, [join(workspaceRoot, 'scripts/test-postgres.ts'), major], {
    cwd: workspaceRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => {
    run.once('exit', resolve);
  });
  expect(code).toBe(0);
});
