import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { createMonorepo, describeMonorepo, npm, otherManagers, type Monorepo } from '../support/monorepo.ts';
import { packedPackage } from '../support/packed-package.ts';

const scratch = mkdtempSync(join(tmpdir(), 'contract-check-managers-'));
afterAll(() => rmSync(scratch, { recursive: true }));

let tarball = '';
beforeAll(async () => {
  tarball = await packedPackage();
});

describe.each([npm, ...otherManagers])('$name', (manager) => {
  let monorepo: Monorepo;
  beforeAll(() => {
    monorepo = createMonorepo(manager, scratch, tarball);
  });
  describeMonorepo(manager, () => monorepo);
});
