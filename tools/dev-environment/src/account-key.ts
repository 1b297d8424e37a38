import { type InterfaceName, interfaceNames, interfaces } from '@deedwire/domain';

type OtherKey<Name extends InterfaceName = InterfaceName> = `other${(typeof interfaces)[Name]['accountType']}`;

/** The sample accounts: one of each interface, and another one in another organization, for example `lender` and `otherLender`. */
export type AccountKey = InterfaceName | OtherKey;

/** The account of an interface in the other organization. */
export function otherKey<Name extends InterfaceName>(name: Name): OtherKey<Name> {
  return `other${interfaces[name].accountType}` as OtherKey<Name>;
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
