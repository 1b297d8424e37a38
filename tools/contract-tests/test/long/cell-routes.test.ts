import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { findProgram } from '@deedwire/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { startCellProxy } from '../support/cells/cell-proxy.ts';
import { startReads } from '../support/reads.ts';

// The shipped configuration of HAProxy, with the addresses and paths of the test service. Both cells use one database, so that each answers all
// organizations, and a request fails only by its route.

const isWithoutHaproxy = process.env['CI'] !== 'true' && findProgram('haproxy') === undefined;

const portsOf = ({ url, adminUrl }: Pick<RunningApp, 'adminUrl' | 'url'>) => ({
  port: Number(new URL(url ?? '').port),
  adminPort: Number(new URL(adminUrl).port),
});

async function startCells() {
  const t = await startTestSystem({ apps: ['supplier-api', 'customer-api'], env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const { apps } = t.system;
  const proxy = await startCellProxy(
    new Map([
      [0, { customer: portsOf(apps['customer-api']), supplier: portsOf(apps['supplier-api']) }],
      [
        5,
        {
          customer: portsOf(await t.system.add('customer-api')),
          supplier: portsOf(await t.system.add('supplier-api')),
        },
      ],
    ]),
    'http-after-response set-header X-Test-Backend %b',
  );
  return {
    ...proxy,
    t,
    async stop(): Promise<void> {
      await proxy.stop();
      await t.close();
    },
  };
}

let addresses = 0;

interface Sent {
  path: string;
  organization: string | string[] | undefined;
  clientId: string;
  apiKey: string;
}

/** The answer, without what differs between two answers, and the backend that gave it. */
async function send(url: string, { path, organization, clientId, apiKey }: Sent) {
  const sent = request(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'x-service-client-id': clientId,
      'x-service-api-key': apiKey,
      // Few requests without a valid key are answered for one address.
      'x-forwarded-for': `192.0.2.${(addresses += 1)}`,
      ...(organization !== undefined && { 'x-service-organization-id': organization }),
    },
  });
  sent.end(JSON.stringify({ query: '{ __typename }' }));
  const [response] = await once(sent, 'response');
  const { 'x-test-backend': backend, ...headers } = response.headers;
  const compared = Object.entries(headers).filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name));
  const answer = JSON.stringify([response.statusCode, Object.fromEntries(compared), await text(response)]);
  return { backend, answer: answer.replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>') };
}

describe.skipIf(isWithoutHaproxy)('the configuration of HAProxy for cells', async () => {
  if (isWithoutHaproxy) return;
  const cells = await startCells();
  afterAll(() => cells.stop());
  const { t, url } = cells;
  const { credential } = t.accounts.customer;
  const organization = credential.organizationId;
  const number = BigInt(organization.split('/').at(-1) ?? '');
  const inCell = (cell: bigint) => `gid://service/Organization/${(number & ~(1023n << 12n)) | (cell << 12n)}`;
  const customer = { path: '/customer/graphql', ...credential, organization };

  test.each([
    ['the cell of its id', { organization: inCell(5n) }, 'customer-5'],
    ['the cell of its id', { organization: inCell(0n) }, 'customer-0'],
    ['the first cell if there is no such cell', { organization: inCell(1023n) }, 'customer-0'],
    // Not the cell whose number has the same lower bits.
    ['the first cell if there is no such cell', { organization: inCell(517n) }, 'customer-0'],
    [
      'the first cell of the interface without a header',
      { path: '/supplier/graphql', organization: undefined },
      'supplier-0',
    ],
    ['the interface of the path', { path: '/supplier/graphql', organization: inCell(5n) }, 'supplier-5'],
    [
      'the cell of a page of the portal',
      { path: `/supplier/portal/${number | (5n << 12n)}/`, organization: undefined },
      'supplier-5',
    ],
    [
      'the cell of a page of the portal, whatever the header is',
      { path: `/customer/portal/${number | (5n << 12n)}/deliveries`, organization },
      'customer-5',
    ],
    ['some cell for another path', { path: '/' }, 'customer-0'],
  ])('sends a request to %s: %j', async (_, changes, backend) => {
    expect((await send(url, { ...customer, ...changes })).backend).toBe(backend);
  });

  test('answers requests without a known organization as the interface does', async () => {
    const wrong = [
      undefined,
      '',
      ' ',
      '0',
      '-1',
      String(number),
      `${organization}x`,
      `${organization}/`,
      `x${organization}`,
      organization.toUpperCase(),
      inCell(5n),
      inCell(1023n),
      'gid://service/Organization/99999999999999999999999',
      'gid://service/Organization/9223372036854775807',
      `gid://other/Organization/${number}`,
      `gid://service/Supplier/${number}`,
      `${organization}, ${organization}`,
      [organization, organization],
      [organization, inCell(5n)],
      [inCell(5n), organization],
      'x'.repeat(1000),
    ];
    const direct = t.urls.customer.replace('/customer/graphql', '');
    for (const each of wrong)
      for (const apiKey of [
        credential.apiKey,
        `${credential.apiKey.slice(0, -1)}${credential.apiKey.endsWith('x') ? 'y' : 'x'}`,
      ]) {
        const sent = { ...customer, organization: each, apiKey };
        const { answer } = await send(direct, sent);
        expect(answer).toMatch(/^\[401,/);
        expect((await send(url, sent)).answer).toBe(answer);
      }
  });

  test('moves an organization at run time without a failed request', async () => {
    const reads = startReads(`${url}/customer/graphql`, credential, '{ customer { name } }', 4);
    const line = (verb: string, cell: number) => `${verb} map ${cells.map} ${number} ${cell}`;
    expect(await cells.command(`${line('add', 5)}; add map ${cells.map} 4711 5`)).toBe('');
    for (let change = 1; change <= 300; change += 1) {
      const cell = change % 2 === 0 ? 5 : 0;
      expect(await cells.command(line('set', cell))).toBe('');
      expect((await send(url, customer)).backend).toBe(`customer-${cell}`);
    }
    expect(
      (await send(url, { ...customer, path: `/customer/portal/${number}/`, organization: undefined })).backend,
    ).toBe('customer-5');
    const { responses, failures } = await reads.stop();
    expect([...failures]).toEqual([]);
    expect(responses).toBeGreaterThan(100);
  });
});
