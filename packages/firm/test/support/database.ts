import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { firm } from '../../src/index.ts';

/** A new database of the law firm. */
export function createFirmDatabase(): Promise<TestDatabase> {
  return createTestDatabase({
    template: 'firm',
    prepare: async (url) => void (await migrate(url, firm, { organization: null })),
  });
}
