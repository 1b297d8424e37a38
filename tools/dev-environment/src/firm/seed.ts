import type { OperatorContext } from '@deedwire/actions';
import { firm } from '@deedwire/firm';
import { ensureOpenReferrals, sampleNames, sampleOrganizations, seedRecords } from '@deedwire/firm/seed';
import { type SampleAccounts, seedAccounts } from '../sample-accounts.ts';
import type { Firm } from './system.ts';

// The seed of the demonstration. The harness takes it from here: that of another release is in the same file.
export { ensureOpenReferrals };

/** Creates two organizations, each with an account of each interface, and a credential for each account. */
export async function seed(context: OperatorContext): Promise<SampleAccounts<Firm>> {
  const accounts = await seedAccounts(context, firm, sampleOrganizations, sampleNames);
  await seedRecords(context, accounts);
  return accounts;
}
