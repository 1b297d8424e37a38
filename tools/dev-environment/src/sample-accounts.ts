import { createAccount, createOrganization, type OperatorContext } from '@deedwire/actions';
import { interfaceOf, type Service } from '@deedwire/core';
import { type DevAccount, withNewCredential } from '@deedwire/development';
import { type AccountKeyOf, ofAccountsOf } from './account-key.ts';
import type { NameOf } from './application.ts';

/** An account of an interface, with an API key. */
export type SampleAccount<Name extends string = string> = DevAccount & { interfaceName: Name };

export type SampleAccounts<Served extends Service> = Record<AccountKeyOf<Served>, SampleAccount<NameOf<Served>>>;

/** Creates two organizations, each with an account of each interface, and a credential for each account. */
export async function seedAccounts<Served extends Service>(
  context: OperatorContext,
  service: Served,
  [name, otherName]: readonly [name: string, otherName: string],
  accountNames: Readonly<Record<string, string>> = {},
): Promise<SampleAccounts<Served>> {
  const { id } = await createOrganization(context, { name });
  const { id: otherId } = await createOrganization(context, { name: otherName });
  return ofAccountsOf(service, (key, interfaceName) =>
    newAccount(context, key, interfaceName, key === interfaceName ? id : otherId, accountNames),
  );
}

export async function newAccount<Name extends string>(
  context: OperatorContext,
  key: string,
  interfaceName: Name,
  organizationId: string,
  accountNames: Readonly<Record<string, string>>,
): Promise<SampleAccount<Name>> {
  const { title } = interfaceOf(context.service, interfaceName);
  const name = accountNames[key] ?? `${title} ${key === interfaceName ? 'One' : 'Two'}`;
  const { id } = await createAccount(context, interfaceName, { organizationId, name });
  return withNewCredential(context, interfaceName, id);
}
