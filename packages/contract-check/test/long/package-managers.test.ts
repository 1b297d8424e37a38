import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { describeMonorepo, otherManagers } from '../support/monorepo.ts';
import { packPackage } from '../support/packed-package.ts';

const scratch = mkdtempSync(join(tmpdir(), 'contract-check-managers-'));
afterAll(() => rmSync(scratch, { recursive: true }));

let tarball = '';
beforeAll(() => {
  tarball = packPackage(scratch);
});

for (const manager of otherManagers) describeMonorepo(manager, scratch, () => tarball);
