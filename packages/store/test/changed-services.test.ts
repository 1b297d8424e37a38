import { defineEvent, defineService, type EventContract, type Names, type RenderedEvent } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { connect } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { findServiceProblems, migrate } from '../src/index.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

interface Variant {
  names?: Partial<Names>;
  /** The types of accounts, by the name of the interface. */
  interfaces?: Readonly<Record<string, string>>;
  /** Null: none. */
  event?: { record?: string; interfaces?: readonly string[]; versions?: readonly string[] } | null;
}

const usual = { supplier: 'Supplier', customer: 'Customer' };

function serviceOf({ names = {}, interfaces = usual, event = {} }: Variant) {
  const type = 'order.paid';
  const { interfaces: own = ['customer'], versions = ['2026-11-01', '2027-02-01'] } = event ?? {};
  const contract: EventContract = {
    type,
    description: type,
    interfaces: own,
    versions: versions.map((version) => ({
      version,
      status: 'current',
      deprecatedOn: null,
      sunsetOn: null,
      data: z.object({}),
    })),
  };
  const eventOf = (record: string): RenderedEvent => ({
    ...defineEvent(type, {
      record: { type: record, id: () => '1' },
      snapshot: z.object({ id: z.string() }),
      sample: () => ({ id: '1' }),
    }),
    renderers: Object.fromEntries(versions.map((version) => [version, () => ({})])),
  });
  const version = {
    version: '2026-11-01',
    status: 'current',
    deprecatedOn: null,
    sunsetOn: null,
    edition: '2026-11-01',
  } as const;
  return defineService({
    names: { ...testService.names, ...names },
    interfaces: Object.fromEntries(
      Object.entries(interfaces).map(([name, account]) => [name, { title: name, account, versions: [version] }]),
    ),
    contracts: event === null ? [] : [contract],
    events: event === null ? [] : [eventOf(event.record ?? 'Order')],
  });
}

const namespace = testService.names.gidNamespace;
const keyPrefix = testService.names.apiKeyPrefix;
const migrateIt = 'run: deedwire-operator database migrate';
const differs = 'The service differs from what a release of it has registered: ';

/** What `migrate` says, and what keeps an app from becoming ready, in the database of the usual service. Null and none: nothing. */
const changes: readonly [what: string, variant: Variant, refusal: string | null, atStart: readonly string[]][] = [
  [
    'a renamed interface',
    { interfaces: { supplier: 'Supplier', buyer: 'Customer' }, event: { interfaces: ['buyer'] } },
    `${differs}the interface buyer has accounts of the type Customer, and in the database the interface customer has them. An interface is added, and not renamed: call it customer, or give buyer another type in \`account\`.`,
    [
      `the database lacks the interfaces buyer with the types of their accounts; ${migrateIt}`,
      `the database does not know all of the events order.paid; ${migrateIt}`,
    ],
  ],
  [
    'another type of accounts',
    { interfaces: { supplier: 'Supplier', customer: 'Client' } },
    `${differs}the interface customer has accounts of the type Client, and in the database of Customer. Use another name.`,
    [`the database lacks the interfaces customer with the types of their accounts; ${migrateIt}`],
  ],
  [
    'two interfaces that exchange the types of their accounts',
    { interfaces: { supplier: 'Customer', customer: 'Supplier' } },
    `${differs}the interface customer has accounts of the type Supplier, and in the database of Customer; the interface supplier has accounts of the type Customer, and in the database of Supplier. Use another name.`,
    [`the database lacks the interfaces customer, supplier with the types of their accounts; ${migrateIt}`],
  ],
  [
    'another record of an event',
    { event: { record: 'Invoice' } },
    `${differs}the event order.paid is about the record Invoice, and in the database about Order. Use another name.`,
    [`the database does not know all of the events order.paid; ${migrateIt}`],
  ],
  [
    'another gidNamespace',
    { names: { gidNamespace: 'other' } },
    `The global identifiers of the database begin with gid://${namespace}/ and cannot change, and this process has the namespace other; set GID_NAMESPACE=${namespace}`,
    [
      `the global identifiers of the database begin with gid://${namespace}/ and cannot change, and this process has the namespace other; set GID_NAMESPACE=${namespace}`,
    ],
  ],
  [
    'another apiKeyPrefix',
    { names: { apiKeyPrefix: 'other' } },
    `${differs}its API keys begin with other_, and those of the database with ${keyPrefix}_. Clients have such keys, which nothing would accept: set \`apiKeyPrefix\` to ${keyPrefix}.`,
    [],
  ],
  // The database keeps what is gone, for a release that is deployed again.
  ['another name of the service', { names: { service: 'renamed' } }, null, []],
  ['a removed interface', { interfaces: { customer: 'Customer' } }, null, []],
  ['a removed event', { event: null }, null, []],
  ['a removed version of an event', { event: { versions: ['2027-02-01'] } }, null, []],
  [
    'an event of another interface',
    { event: { interfaces: ['supplier'] } },
    null,
    [`the database does not know all of the events order.paid; ${migrateIt}`],
  ],
];

test.each(changes)('%s is refused with what to do, or changes nothing', async (_, variant, refusal, atStart) => {
  const { databaseUrl } = await databaseWithKey();
  const service = serviceOf(variant);
  const problems = () =>
    withStore(databaseUrl, (store) =>
      findServiceProblems(store, { service, gidNamespace: service.names.gidNamespace }),
    );
  const before = await registered(databaseUrl);
  expect(await problems()).toEqual(atStart);
  const migrated = migrate(databaseUrl, service).then(
    () => null,
    ({ message }: Error) => message,
  );
  expect(await migrated).toBe(refusal);
  const left = await (refusal === null ? problems() : registered(databaseUrl));
  expect(left).toEqual(refusal === null ? [] : before);
  // The release before continues.
  await migrate(databaseUrl, serviceOf({}));
});

/** A database of the usual service, in which a client has a key. */
async function databaseWithKey() {
  const database = await forTest(createServiceDatabase());
  await migrate(database.databaseUrl, serviceOf({}));
  const owner = await connect(database.databaseUrl);
  try {
    await owner.run(`
      select create_account('customer', 'c-1', 'Ada');
      select create_api_key('customer', 'c-1', 'Shop')`);
  } finally {
    await owner.close();
  }
  return database;
}

/** What the database knows of services. */
async function registered(databaseUrl: string): Promise<unknown> {
  const owner = await connect(databaseUrl);
  try {
    return await owner.run(`
      select enum_range(null::interface_name)::text as names, (select jsonb_agg(i order by name) from interface i) as interfaces,
        (select jsonb_agg(e order by type) from event_type e) as events, api_key_prefix, gid_namespace
      from installation`);
  } finally {
    await owner.close();
  }
}
