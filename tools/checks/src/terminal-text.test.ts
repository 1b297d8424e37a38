import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

test('`contract-check`, which is published and imports no private package, escapes what the other commands escape', () => {
  const [copy, original] = ['packages/contract-check/src/cli/terminal-text.ts', 'packages/domain/src/terminal-text.ts'];
  expect(readFileSync(join(workspaceRoot, copy), 'utf8')).toBe(readFileSync(join(workspaceRoot, original), 'utf8'));
});
