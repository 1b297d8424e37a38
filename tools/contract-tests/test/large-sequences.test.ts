import { createHarness } from '@deedwire/dev-environment/harness';
import type { RunningServer } from '@deedwire/service-runtime';
import { postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertDelivery, insertSubscription, type StoredDelivery } from './support/stored-deliveries.ts';

const largestInt = 2_147_483_647;

const harness = await forFile(createHarness());

describe.each([
  { name: 'partner', version: '2026-11-01' },
  { name: 'lender', version: '2026-11-01' },
  { name: 'lender', version: '2027-02-01' },
] as const)('the $name interface at $version', ({ name, version }) => {
  let service: RunningServer;
  let [small, large]: StoredDelivery[] = [];

  beforeAll(async () => {
    service = name === 'partner' ? await harness.startPartnerApi() : await harness.startLenderApi();
    await service.whenReady;
    const subscription = await insertSubscription(harness, name, harness.accounts[name]);
    small = await insertDelivery(harness, subscription, { sequence: largestInt });
    large = await insertDelivery(harness, subscription, { sequence: Number.MAX_SAFE_INTEGER });
  });

  async function send(query: string, accept = 'application/json') {
    const headers = { accept, 'X-Service-Schema-Version': version };
    const { status, body } = await postGraphql(`${service.url}/${name}s/graphql`, harness.accounts[name].credential, {
      query,
      headers,
    });
    return { status, ...body };
  }

  test('lists numbers above 2147483647 as sequenceNumber', async () => {
    expect(await send('{ webhookDeliveries(first: 2) { nodes { id sequenceNumber } } }')).toEqual({
      status: 200,
      data: {
        webhookDeliveries: {
          nodes: [
            { id: large?.gid, sequenceNumber: Number.MAX_SAFE_INTEGER },
            { id: small?.gid, sequenceNumber: largestInt },
          ],
        },
      },
      extensions: expect.any(Object),
    });
  });

  const operation = `{ webhookDeliveries(first: 1) { nodes { sequence } } }`;
  const isLong = version === '2027-02-01';

  test.runIf(isLong)('has them as sequence too', async () => {
    expect((await send(operation)).data).toEqual({
      webhookDeliveries: { nodes: [{ sequence: Number.MAX_SAFE_INTEGER }] },
    });
  });

  test.runIf(!isLong)('fails only operations that select sequence of such a delivery', async () => {
    const error = {
      message: `The sequence of this delivery is 9007199254740991, and \`sequence\` is at most 2147483647. Select \`sequenceNumber\` instead.`,
      extensions: { code: 'SEQUENCE_TOO_LARGE' },
    };
    expect(await send(operation)).toMatchObject({ status: 200, data: null, errors: [error] });
    expect(await send(operation, 'application/graphql-response+json')).toMatchObject({ status: 400, data: null });
    const both = `{ a: webhookDelivery(id: "${large?.gid}") { sequence } b: webhookDelivery(id: "${small?.gid}") { sequence } }`;
    expect(await send(both)).toMatchObject({
      status: 200,
      data: { a: null, b: { sequence: largestInt } },
      errors: [{ ...error, path: ['a', 'sequence'] }],
    });
  });

  test('marks sequence as deprecated', async () => {
    const { data } = await send(
      '{ __type(name: "WebhookDelivery") { fields(includeDeprecated: true) { name isDeprecated deprecationReason } } }',
    );
    expect(data).toMatchObject({
      __type: {
        fields: expect.arrayContaining([
          { name: 'sequenceNumber', isDeprecated: false, deprecationReason: null },
          { name: 'sequence', isDeprecated: true, deprecationReason: expect.stringContaining('`sequenceNumber`') },
        ]),
      },
    });
  });
});
