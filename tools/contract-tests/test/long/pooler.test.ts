import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findProgram } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

const isWithoutPgBouncer = findProgram('pgbouncer') === undefined && process.env['CI'] !== 'true';

// A small set runs in `full/pooler.test.ts`.
test.skipIf(isWithoutPgBouncer).each([
  ['with direct connections for notifications', []],
  ['without direct connections', ['--no-direct']],
])('every contract test passes behind a pooler, %s', async (_, options) => {
  const run = spawn(process.execPath, [join(workspaceRoot, 'scripts/test-pooler.ts'), ...options], {
    cwd: workspaceRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => {
    run.once('exit', resolve);
  });
  expect(code).toBe(0);
});
