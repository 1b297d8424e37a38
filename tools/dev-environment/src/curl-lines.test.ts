import { expect, test } from 'vitest';
import { curlLines } from './curl-lines.ts';

test('lines that a shell takes as they are', () => {
  const caller = {
    url: 'http://127.0.0.1:4001/lenders/graphql',
    clientId: 'c',
    apiKey: 'k',
    organizationId: 'gid://service/Organization/1',
  };
  const lines = curlLines({
    lender: caller,
    partner: caller,
    otherLender: caller,
    otherPartner: caller,
    worker: { url: 'http://127.0.0.1:4003' },
    databaseUrl: 'postgres://x',
    referrals: ['gid://service/Referral/7'],
  });
  expect(lines.split('\n\n')[1]).toBe(String.raw`curl -sS http://127.0.0.1:4001/lenders/graphql \
  -H 'Content-Type: application/json' \
  -H 'X-Service-Client-Id: c' \
  -H 'X-Service-API-Key: k' \
  -H 'X-Service-Organization-Id: gid://service/Organization/1' \
  -d '{"query":"{ referral(id: \"gid://service/Referral/7\") { id status clientName createdAt } }"}'`);
});
