import * as ours from '@deedwire/actions';
import { raiseLimit } from '@deedwire/dev-environment/harness';
import { type Client, createClient, type Credential } from '@deedwire/testing';

export type Actions = Pick<typeof ours, 'createOrganization' | 'createAccount' | 'issueCredential'>;

export interface ClientAccount {
  accountId: string;
  credential: Credential;
  client: Client;
}

/**
 * Creates accounts of one organization. Each can send any number of requests and has no records.
 *
 * @param actions what write the rows: of the release that has migrated the database
 */
export async function createClientAccounts<Name extends string>(
  interfaceName: Name,
  { operator, urls }: { operator: ours.OperatorContext; urls: Readonly<Record<NoInfer<Name>, string>> },
  count: number,
  actions: Actions = ours,
): Promise<ClientAccount[]> {
  const { createOrganization, createAccount, issueCredential } = actions;
  const accounts: ClientAccount[] = [];
  const organization = await createOrganization(operator, { name: 'Accounts of a test' });
  for (let index = 0; index < count; index += 1) {
    const { id: accountId } = await createAccount(operator, interfaceName, {
      organizationId: organization.id,
      name: `Account ${index}`,
    });
    const credential = await issueCredential(operator, { interfaceName, accountId, clientId: null });
    await raiseLimit(operator, credential.clientId);
    accounts.push({ accountId, credential, client: createClient(urls[interfaceName], credential) });
  }
  return accounts;
}
