import { type InterfaceName, firm, interfaceNames } from '@deedwire/firm';

type OtherKey<Name extends InterfaceName = InterfaceName> = `other${(typeof firm.interfaces)[Name]['account']}`;

/** The sample accounts: one of each interface, and another one in another organization, for example `lender` and `otherLender`. */
export type AccountKey = InterfaceName | OtherKey;

/** The account of an interface in the other organization. */
export function otherKey<Name extends InterfaceName>(name: Name): OtherKey<Name> {
  return `other${firm.interfaces[name].account}` as OtherKey<Name>;
}

/** A value for each sample account. */
export async function ofAccounts<Value>(
  valueOf: (key: AccountKey, interfaceName: InterfaceName) => Value | Promise<Value>,
): Promise<Record<AccountKey, Value>> {
  const entries: [AccountKey, Value][] = [];
  for (const name of interfaceNames) entries.push([name, await valueOf(name, name)]);
  for (const name of interfaceNames) entries.push([otherKey(name), await valueOf(otherKey(name), name)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each account
  return Object.fromEntries(entries) as Record<AccountKey, Value>;
}
