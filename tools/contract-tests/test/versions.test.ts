import { issueCredential, pinClient } from '@deedwire/actions';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { createClient } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';
import { expect, test } from 'vitest';

const t = await forFile(joinSharedSystem());

const versionHeader = 'X-Service-Schema-Version';

interface Shape {
  __type: { fields: { name: string; type: { ofType: { name: string } } }[] } | null;
}

/** Valid at each version, whose responses differ. */
const shape: TypedDocumentNode<Shape, object> = parse(
  '{ __type(name: "WebhookDelivery") { fields(includeDeprecated: true) { name type { ofType { name } } } } }',
);

/** The type of the field `sequence`. */
const typeIn = ({ __type }: Shape) => __type?.fields.find(({ name }) => name === 'sequence')?.type.ofType.name;

test('serves two versions side by side, each in its own shape', async () => {
  const { credential } = t.accounts.supplier;
  const preview = createClient(t.urls.supplier, credential, { [versionHeader]: '2027-02-01' });
  expect(typeIn(await t.supplier.request(shape, {}))).toBe('Int');
  expect(typeIn(await preview.request(shape, {}))).toBe('Long');
});

test('rejects an operation of another version with GRAPHQL_VALIDATION_FAILED', async () => {
  const older: TypedDocumentNode<object, object> = parse('{ webhookDeliveries { nodes { event { id } } } }');
  expect((await t.supplier.send(older, {})).errors).toEqual([]);
  const { credential } = t.accounts.supplier;
  const preview = createClient(t.urls.supplier, credential, { [versionHeader]: '2027-02-01' });
  const { errors } = await preview.send(older, {});
  expect(errors.map(({ extensions }) => extensions.code)).toContain('GRAPHQL_VALIDATION_FAILED');
});

test('serves the version that the client pins when the header is omitted, even after the operator changes it', async () => {
  const account = { interfaceName: 'supplier', accountId: t.accounts.supplier.id, clientId: null } as const;
  const credential = await issueCredential(t.operator, { ...account, schemaVersion: '2027-02-01' });
  const client = createClient(t.urls.supplier, credential);
  const pinned = await client.send(shape, {});
  expect([pinned.headers.get(versionHeader), pinned.data && typeIn(pinned.data), pinned.errors]).toEqual([
    '2027-02-01',
    'Long',
    [],
  ]);

  const named = await createClient(t.urls.supplier, credential, { [versionHeader]: '2026-11-01' }).send(shape, {});
  expect([named.headers.get(versionHeader), named.errors]).toEqual(['2026-11-01', []]);

  await pinClient(t.operator, { clientId: credential.clientId, schemaVersion: '2026-11-01' });
  await expect.poll(async () => (await client.send(shape, {})).headers.get(versionHeader)).toBe('2026-11-01');
});

test('rejects an unknown version with a list of the supported ones', async () => {
  for (const [url, credential, supported] of [
    [t.urls.supplier, t.accounts.supplier.credential, ['2026-11-01', '2027-02-01']],
    [t.urls.customer, t.accounts.customer.credential, ['2026-11-01']],
  ] as const) {
    const client = createClient(url, credential, { [versionHeader]: '2026-11-02' });
    const { status, data, errors } = await client.send(shape, {});
    expect([status, data]).toEqual([400, undefined]);
    expect(errors).toMatchObject([
      { extensions: { code: 'UNSUPPORTED_SCHEMA_VERSION', supportedVersions: supported } },
    ]);
  }
});
