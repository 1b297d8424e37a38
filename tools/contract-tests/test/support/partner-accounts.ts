import * as ours from '@deedwire/actions';
import { raiseLimit, type TestSystem } from '@deedwire/dev-environment/firm-harness';
import { type Client, createClient, type Credential } from '@deedwire/testing';

export type Actions = Pick<typeof ours, 'createOrganization' | 'createAccount' | 'issueCredential'>;

export interface PartnerAccount {
  accountId: string;
  credential: Credential;
  client: Client;
}

/**
 * Creates partners of one organization. Each can send any number of requests and has no referrals.
 *
 * @param actions what write the rows: of the release that has migrated the database
 */
export async function createPartnerAccounts(
  { operator, urls }: Pick<TestSystem, 'operator' | 'urls'>,
  count: number,
  actions: Actions = ours,
): Promise<PartnerAccount[]> {
  const { createOrganization, createAccount, issueCredential } = actions;
  const accounts: PartnerAccount[] = [];
  const organization = await createOrganization(operator, { name: 'Partners of a test' });
  for (let index = 0; index < count; index += 1) {
    const { id: accountId } = await createAccount(operator, 'partner', {
      organizationId: organization.id,
      name: `Partner ${index}`,
    });
    const credential = await issueCredential(operator, { interfaceName: 'partner', accountId, clientId: null });
    await raiseLimit(operator, credential.clientId);
    accounts.push({ accountId, credential, client: createClient(urls.partner, credential) });
  }
  return accounts;
}
