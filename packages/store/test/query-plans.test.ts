import { toRecordId } from '@deedwire/core';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { selectAccounts, selectOrganizations } from '../src/accounts/accounts.ts';
import { selectAuditBatch, selectAuditEntries, selectAuditEntriesAfter } from '../src/accounts/audit.ts';
import { selectApiClients, selectApiKey } from '../src/accounts/credentials.ts';
import { completeIdempotencyKeys, type KeyResult } from '../src/transactions/idempotency.ts';
import { createServiceDatabase } from './support/database.ts';
import { explain, indexes, rowsRead, scanned } from './support/explain.ts';

const fill = `
  insert into organization (id, name) select n, 'Test ' || n from generate_series(1, 2000) n;
  insert into account (id, interface, organization_id, name) select n, 'customer', 1, 'Test' from generate_series(1, 1000) n;
  insert into api_client (id, account_id, interface, client_id, schema_version)
    select n, 1, 'customer', 'c' || n, '2026-11-01' from generate_series(1, 2000) n;
  insert into api_key (key_id, api_client_id, interface, key_hash)
    select 'k' || n, n, 'customer', decode(repeat('00', 32), 'hex') from generate_series(1, 2000) n;
  insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
    select 1, 'customer', 'placeOrder', 'k' || n, '', '00000000-0000-0000-0000-000000000000', now()
    from generate_series(1, 2000) n;
  insert into audit_entry (actor_type, actor, action, subject)
    select 'OPERATOR', 'ada', 'order.place', n::text from generate_series(1, 2000) n;
  insert into account_home select id, 0 from account;
  analyze`;

const database = await forFile(createServiceDatabase());
const connection = await forFile(connect(database.databaseUrl));
await connection.run(fill);

const keyResult = (key: string): KeyResult => ({
  accountId: toRecordId('1'),
  mutation: 'placeOrder',
  key,
  claimId: '00000000-0000-0000-0000-000000000000',
  payload: {},
  secretCiphertext: null,
  recordId: null,
});

// PostgreSQL chooses between a generic and a custom plan at run time. Both must use the index.
describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  test('saves the results of idempotency keys by their primary key', async () => {
    const nodes = await explain(connection, mode, (db) =>
      completeIdempotencyKeys(db, [keyResult('k77'), keyResult('k78')]),
    );
    expect(indexes(nodes)).toContain('idempotency_key_pkey');
    expect(scanned(nodes)).toEqual([]);
    expect(rowsRead(nodes, 'idempotency_key')).toBe(2);
  });

  test('finds an API key by its id', async () => {
    const nodes = await explain(connection, mode, (db) => selectApiKey(db, 'k77'));
    expect(indexes(nodes)).toContain('api_key_pkey');
    // It has one row.
    expect(scanned(nodes)).toEqual(['installation']);
    expect(rowsRead(nodes, 'api_client')).toBe(1);
  });

  describe.each<[string, string | null]>([
    ['from the start', null],
    ['from a position', '900'],
  ])('%s, lists for operators read no more rows than they return', (_, after) => {
    const page = { afterId: after === null ? null : toRecordId<never>(after), limit: 21 };

    test('organizations', async () => {
      const nodes = await explain(connection, mode, (db) => selectOrganizations(db, null, page));
      expect(indexes(nodes)).toEqual(['organization_pkey']);
      expect(rowsRead(nodes, 'organization')).toBe(21);
    });

    test.each([
      ['of all organizations', null, 'account_pkey'],
      ['of an organization', toRecordId<'Organization'>('1'), 'account_by_organization'],
    ])('accounts %s', async (_of, organizationId, index) => {
      const filter = { interfaceName: 'customer' as const, organizationId, nameContains: 't' };
      const nodes = await explain(connection, mode, (db) => selectAccounts(db, filter, page));
      expect(indexes(nodes)).toContain(index);
      expect(scanned(nodes)).toEqual([]);
      expect(rowsRead(nodes, 'account')).toBe(21);
    });

    test.each([
      ['of all accounts', null, 'api_client_pkey'],
      ['of an account', toRecordId<'Account'>('1'), 'api_client_by_account'],
    ])('clients %s', async (_of, accountId, index) => {
      const nodes = await explain(connection, mode, (db) => selectApiClients(db, accountId, page));
      expect(indexes(nodes)).toContain(index);
      expect(scanned(nodes)).toEqual([]);
      expect(rowsRead(nodes, 'api_client')).toBe(21);
      expect(rowsRead(nodes, 'api_key')).toBe(21);
    });
  });

  test('lists the audit log by the primary keys of its partitions', async () => {
    const [newest, last] = [
      { at: null, number: null },
      { at: new Date(0), number: '1' },
    ];
    const batch = await explain(connection, mode, (db) => selectAuditBatch(db, newest, null, 50));
    expect(scanned(batch)).toEqual([]);
    const filter = { clientId: 'c', keyId: 'k', accountId: toRecordId<'Account'>('1'), subject: 's' };
    const nodes = await explain(connection, mode, (db) => selectAuditEntries(db, newest, last, filter));
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    expect(scanned(nodes)).toEqual([]);
  });

  test('exports the audit log by the primary keys of its partitions', async () => {
    const after = { at: new Date(), number: '1900' };
    const nodes = await explain(connection, mode, (db) => selectAuditEntriesAfter(db, after, 50));
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    expect(scanned(nodes)).toEqual([]);
  });
});
