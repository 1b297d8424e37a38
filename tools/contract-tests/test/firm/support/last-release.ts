import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Seeding } from '@deedwire/dev-environment/test/firm/harness';
import { missing } from '@deedwire/testing';
import { checkOutRelease } from '../../support/checked-out-release.ts';
import type { Actions } from '../../support/client-accounts.ts';

/** An installed checkout of a release of the law firm. */
export interface Release {
  folder: string;
  /** Applies the migrations of the release, and registers its service. */
  migrate(databaseUrl: string): Promise<unknown>;
  /** Its code that writes the first rows: that of this build can need columns that the release does not have. */
  seeding(): Promise<Seeding>;
  actions(): Promise<Actions>;
  /** Builds its apps. */
  build(): Promise<unknown>;
  remove(): Promise<void>;
}

/** In a release from before the demonstration had its own folder, it is the second one. */
const seedFiles = ['tools/dev-environment/src/firm/seed.ts', 'tools/dev-environment/src/seed.ts'];

/** Checks out the previous release: `checkOutRelease`. */
export async function checkOutLastRelease(options?: { isBeforeMigration: boolean }): Promise<Release> {
  const { folder, load, build, remove } = await checkOutRelease('apps/webhook-worker/CHANGELOG.md', options);
  return {
    folder,
    async migrate(databaseUrl) {
      const { migrate } = await load('packages/store/src/index.ts');
      const { firm } = await load('packages/firm/src/index.ts');
      return migrate(databaseUrl, firm);
    },
    async seeding() {
      const { createStore } = await load('packages/store/src/index.ts');
      const seed = seedFiles.find((file) => existsSync(join(folder, file))) ?? missing();
      return { ...(await load(seed)), createStore };
    },
    actions: () => load('packages/actions/src/index.ts'),
    build: () => build('{./apps/*}...'),
    remove,
  };
}
