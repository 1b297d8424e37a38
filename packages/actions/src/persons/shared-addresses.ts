import { type AccountId, addressKey, formatGid, type PersonTable } from '@deedwire/core';
import { type PersonAddress, selectAddresses } from '@deedwire/store/person-erasures';
import { selectPersonRegistry } from '@deedwire/store/person-registry';
import type { ActionContext } from '../kernel/context.ts';

/** Records of an account with the same address in different spellings. An erasure of the person erases all of them. */
export interface SharedAddress {
  table: PersonTable;
  /** The type of the account. */
  accountType: string;
  accountId: string;
  recordIds: string[];
}

const rowsTogether = 10_000;

/** What was added while the locale of the database decided which addresses are the same. */
export async function findSharedAddresses(context: ActionContext): Promise<SharedAddress[]> {
  const shared: SharedAddress[] = [];
  const { records } = await selectPersonRegistry(context.store);
  for (const table of context.service.persons.filter(({ isAddressUnique }) => isAddressUnique)) {
    const { accountType } = records.get(table.record) ?? {};
    if (accountType !== undefined) shared.push(...(await findInTable(context, table, accountType)));
  }
  return shared;
}

async function findInTable(
  { store, gidNamespace }: ActionContext,
  table: PersonTable,
  accountType: string,
): Promise<SharedAddress[]> {
  const shared: SharedAddress[] = [];
  let accountId: AccountId | null = null;
  let byKey = new Map<string, PersonAddress[]>();
  const endAccount = (): void => {
    for (const rows of byKey.values()) {
      const [first, second] = rows;
      if (accountId === null || first === undefined || second === undefined) continue;
      shared.push({
        table,
        accountType,
        accountId: formatGid<string>(gidNamespace, accountType, accountId),
        recordIds: rows.map(({ id }) => formatGid<string>(gidNamespace, table.record, id)),
      });
    }
    byKey = new Map();
  };
  for (let after: PersonAddress | null = null; ;) {
    const page: PersonAddress[] = await selectAddresses(store, table, after, rowsTogether);
    for (const row of page) {
      if (row.accountId !== accountId) endAccount();
      accountId = row.accountId;
      const key = addressKey(row.address);
      byKey.set(key, [...(byKey.get(key) ?? []), row]);
    }
    after = page.at(-1) ?? null;
    if (page.length < rowsTogether) break;
  }
  endAccount();
  return shared;
}
