import { interfaceNames, perInterface } from '@deedwire/firm';
import { expect, test } from 'vitest';
import { ofAccounts, perApp } from './firm-system.ts';
import { welcome } from './welcome.ts';

const caller = { url: 'http://127.0.0.1:4001/lenders/graphql', clientId: '', apiKey: '', organizationId: '' };
const devFile = {
  ...(await ofAccounts(() => caller)),
  admin: await perApp(() => 'http://127.0.0.1:4101'),
  databaseUrl: '',
  webhookSecretKeys: '',
  referrals: [],
};
const variablesFiles = perInterface(() => '.local/lender.env');

test.each([null, 'http://127.0.0.1:4004/webhooks'])('fits a terminal of 80 columns and 24 lines: %s', (receiverUrl) => {
  const lines = welcome({ devFile, variablesFiles, receiverUrl }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  // The last one is that of the cursor. Three lines for each interface beside the first two.
  expect(lines.length).toBeLessThan(18 + 3 * interfaceNames.length);
});
