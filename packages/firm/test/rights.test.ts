import { createTestDatabase } from '@deedwire/embedded-postgres';
import { applyMigrations, type GroupRole, groupRolesOf, migrate, readMigrations } from '@deedwire/store';
import { grantedRights, rightsOf, testRights, withStore } from '@deedwire/store/test-support';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { firm } from '../src/index.ts';
import { createFirmDatabase } from './support/database.ts';
import { testedFirm } from './support/tested-firm.ts';

await testRights(testedFirm);

const database = await forFile(createFirmDatabase());

/** A database that began before the baseline. */
const older = await forFile(
  createTestDatabase({
    template: 'older_firm',
    async prepare(url) {
      const chain = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
      await applyMigrations(url, chain, {});
      await migrate(url, firm);
    },
  }),
);

const rights = (url: string, role: GroupRole) => withStore(url, (store) => rightsOf(store, role));

test('migrations/rights.json is what the migrations of the firm grant, beside those of the platform', async () => {
  const granted: Partial<Record<GroupRole, string[]>> = {};
  for (const role of groupRolesOf(firm)) {
    const ofPlatform = await grantedRights(role, null);
    const all = await rights(database.databaseUrl, role);
    expect(await rights(older.databaseUrl, role)).toEqual(all);
    expect(all).toEqual(expect.arrayContaining(ofPlatform));
    const own = all.filter((right) => !ofPlatform.includes(right));
    if (own.length > 0) granted[role] = own;
  }
  // After a new migration: run vitest with --update.
  await expect(`${JSON.stringify(granted, null, 2)}\n`).toMatchFileSnapshot('../migrations/rights.json');
});
