import { expect, test } from 'vitest';
import { welcome } from './welcome.ts';

const caller = { url: 'http://127.0.0.1:4001/lenders/graphql', clientId: '', apiKey: '', organizationId: '' };
const devFile = {
  lender: caller,
  partner: caller,
  otherLender: caller,
  otherPartner: caller,
  admin: { 'lender-api': 'http://127.0.0.1:4101', 'partner-api': '', 'webhook-worker': '' },
  databaseUrl: '',
  webhookSecretKeys: '',
  referrals: [],
};
const variablesFiles = { partner: '.local/dev.env', lender: '.local/lender.env' };

test.each([null, 'http://127.0.0.1:4004/webhooks'])('fits a terminal of 80 columns and 24 lines: %s', (receiverUrl) => {
  const lines = welcome({ devFile, variablesFiles, receiverUrl }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  // The last one is that of the cursor.
  expect(lines.length).toBeLessThan(24);
});
