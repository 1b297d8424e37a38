import { interfaceOf, type Service } from '@deedwire/core';
import type { NameOf } from './application.ts';

type OtherKey<Served extends Service, Name extends NameOf<Served> = NameOf<Served>> = {
  [Each in Name]: `other${Served['interfaces'][Each]['account']}`;
}[Name];

/** The sample accounts: one of each interface, and another one in another organization, for example `customer` and `otherCustomer`. */
export type AccountKeyOf<Served extends Service> = NameOf<Served> | OtherKey<Served>;

/** The account of an interface in the other organization. */
export function otherKeyOf<Served extends Service, Name extends NameOf<Served>>(
  service: Served,
  name: Name,
): OtherKey<Served, Name> {
  return `other${interfaceOf(service, name).account}` as OtherKey<Served, Name>;
}

/**
 * That of one account.
 *
 * @throws {TypeError} if there is none
 */
export function ofKey<Value>(values: Readonly<Record<string, Value>>, key: string): Value {
  const value = values[key];
  if (value === undefined) throw new TypeError(`There is no sample account ${key}.`);
  return value;
}

/** A value for each sample account. */
export async function ofAccountsOf<Served extends Service, Value>(
  service: Served,
  valueOf: (key: AccountKeyOf<Served>, interfaceName: NameOf<Served>) => Value | Promise<Value>,
): Promise<Record<AccountKeyOf<Served>, Value>> {
  const entries: [AccountKeyOf<Served>, Value][] = [];
  const names = Object.keys(service.interfaces) as NameOf<Served>[];
  for (const name of names) entries.push([name, await valueOf(name, name)]);
  for (const name of names) {
    const key = otherKeyOf(service, name);
    entries.push([key, await valueOf(key, name)]);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each account
  return Object.fromEntries(entries) as Record<AccountKeyOf<Served>, Value>;
}
