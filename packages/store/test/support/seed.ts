import type { AccountId, InterfaceName } from '@deedwire/core';
import { insertAccount, insertOrganization } from '../../src/accounts/accounts.ts';
import type { Database } from '../../src/index.ts';

export interface Account {
  id: AccountId;
  interfaceName: InterfaceName;
}

export async function seedAccount(database: Database, interfaceName: InterfaceName): Promise<Account> {
  const { id: organizationId } = await insertOrganization(database, 'Test');
  const { id } = await insertAccount(database, { interfaceName, organizationId, name: 'Test' });
  return { id, interfaceName };
}
