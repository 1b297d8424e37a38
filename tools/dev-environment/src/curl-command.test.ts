import { expect, test } from 'vitest';
import { curlCommand } from './curl-command.ts';

test('prints a command that a shell accepts unchanged', () => {
  const caller = {
    url: 'http://127.0.0.1:4002/partners/graphql',
    clientId: 'c',
    apiKey: 'k',
    organizationId: 'gid://service/Organization/1',
  };
  const query = '{ referral(id: "gid://service/Referral/7") { id status clientName createdAt } }';
  expect(curlCommand(caller, query)).toBe(String.raw`curl -sS http://127.0.0.1:4002/partners/graphql \
  -H 'Content-Type: application/json' \
  -H 'X-Service-Client-Id: c' \
  -H 'X-Service-API-Key: k' \
  -H 'X-Service-Organization-Id: gid://service/Organization/1' \
  -d '{"query":"{ referral(id: \"gid://service/Referral/7\") { id status clientName createdAt } }"}'`);
});
