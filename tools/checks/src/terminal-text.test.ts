import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

test.each(['contract-check', 'webhook-receiver'])(
  '%s, which is published and imports no private package, escapes what the other commands escape',
  (name) => {
    const copy = `packages/${name}/src/cli/terminal-text.ts`;
    const original = 'packages/domain/src/terminal-text.ts';
    expect(readFileSync(join(workspaceRoot, copy), 'utf8')).toBe(readFileSync(join(workspaceRoot, original), 'utf8'));
  },
);
