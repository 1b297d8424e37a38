import { beforeAll, describe } from 'vitest';
import { folderForFile } from '../support/folders.ts';
import { createMonorepo, describeMonorepo, npm, otherManagers, type Monorepo } from '../support/monorepo.ts';
import { packedPackage } from '../support/packed-package.ts';

const scratch = folderForFile();

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
