import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const command = ['--conditions=deedwire-source', join(import.meta.dirname, '../src/demo.ts')];

test('completes the whole flow', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Everything as specified, in \d+\.\d s\.\n$/);
  expect(stdout.match(/the signature verifies/g)).toHaveLength(3);
});
