import { interfaceNamesOf } from '@deedwire/core';
import { testService as service } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { welcome } from './welcome.ts';

const interfaceNames = interfaceNamesOf(service);
const caller = { url: 'http://127.0.0.1:4001/customers/graphql', clientId: '', apiKey: '', organizationId: '' };
const values = {
  service,
  firstSteps: {
    interfaceName: 'customer',
    query: '{ customer { name } }',
    command: `order place --customer "$CUSTOMER_ID" --buyer-name 'Grace Hopper'`,
  },
  callers: Object.fromEntries(interfaceNames.map((name) => [name, caller])),
  admin: Object.fromEntries(
    ['customer-api', 'supplier-api', 'webhook-worker'].map((name) => [name, 'http://127.0.0.1:4101']),
  ),
  variablesFiles: new Map([
    ['customer', '.local/dev.env'],
    ['supplier', '.local/supplier.env'],
  ]),
};

test.each([
  [null, null],
  ['http://127.0.0.1:4006/webhooks', null],
  ['http://127.0.0.1:4006/webhooks', 'tools/test-service'],
])('fits a terminal of 80 columns and 24 lines: %s, %s', (receiverUrl, folder) => {
  const lines = welcome({ ...values, receiverUrl, folder }).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  // The last one is that of the cursor. Three lines for each interface beside the first two.
  expect(lines.length).toBeLessThan(18 + 3 * interfaceNames.length);
});

test('proposes a query and a command, which names the folder of the service', () => {
  const text = welcome({ ...values, receiverUrl: null, folder: 'tools/test-service' });
  expect(text).toContain(`
. .local/dev.env
curl -sS "$DEEDWIRE_URL" -H 'Content-Type: application/json' \\
  -H "X-Service-Client-Id: $CLIENT_ID" -H "X-Service-API-Key: $API_KEY" \\
  -H "X-Service-Organization-Id: $ORGANIZATION_ID" \\
  -d '{"query":"{ customer { name } }"}'
`);
  expect(text).toMatch(
    /^npx -y pnpm@[\d.]+ operator --service tools\/test-service order place \\\n {2}--customer "\$CUSTOMER_ID" --buyer-name 'Grace Hopper'$/m,
  );
});

test('names files with long paths on separate lines', () => {
  const path = '../shops/of-the-north/.local';
  const variablesFiles = new Map([
    ['customer', `${path}/dev.env`],
    ['supplier', `${path}/supplier.env`],
  ]);
  const lines = welcome({ ...values, variablesFiles, receiverUrl: null, folder: null }).split('\n');
  expect(lines).toContain(`  credentials            ${path}/dev.env (customer),`);
  expect(lines).toContain(`${' '.repeat(25)}${path}/supplier.env`);
});

test('names the one file of a service with one interface', () => {
  const variablesFiles = new Map([['customer', '.local/dev.env']]);
  expect(welcome({ ...values, variablesFiles, receiverUrl: null, folder: null })).toMatch(
    /^ {2}credentials +\.local\/dev\.env \(customer\)$/m,
  );
});
