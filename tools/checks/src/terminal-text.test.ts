import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

// What is published imports no private package.
const original = join(workspaceRoot, 'packages/core/src/terminal-text.ts');

test('contract-check escapes what the other commands escape', () => {
  const copy = join(workspaceRoot, 'packages/contract-check/src/cli/terminal-text.ts');
  expect(readFileSync(copy, 'utf8')).toBe(readFileSync(original, 'utf8'));
});

test('webhook-receiver escapes what the other commands escape', async () => {
  const { terminalText: own } = await import(join(workspaceRoot, 'packages/webhook-receiver/src/cli/text.ts'));
  const { terminalText } = await import(original);
  const all = Array.from({ length: 0x11_00_00 }, (_, code) => String.fromCodePoint(code)).join('');
  expect(own(all) === terminalText(all)).toBe(true);
});
