import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { defineService, ServiceError } from './define-service.ts';
import { defineEvent, type EventContract, requiredPaths, withRenderers } from './event.ts';
import type { Service, ServiceOptions } from './service.ts';

function versionOf(version: string) {
  return { version, status: 'current', deprecatedOn: null, sunsetOn: null } as const;
}

const render = ({ order }: { order: string }) => ({ order });

const names = {
  service: 'acme',
  gidNamespace: 'acme',
  apiKeyPrefix: 'ak',
  headerPrefix: 'X-Acme',
  userAgent: 'Acme-Webhooks',
} as const;
const customer = { title: 'Customer', account: 'Customer' };

function faultsOf(
  interfaces: ServiceOptions['interfaces'],
  more: Partial<Omit<ServiceOptions, 'interfaces'>> = {},
): readonly string[] {
  try {
    defineService({ names, interfaces, ...more });
  } catch (error) {
    if (error instanceof ServiceError) return error.faults;
    throw error;
  }
  return [];
}

test('a service knows the names of its interfaces and the types of their accounts', () => {
  const service = defineService({
    names,
    interfaces: { supplier: { title: 'Supplier', account: 'Supplier' }, customer },
  });
  expectTypeOf<keyof typeof service.interfaces>().toEqualTypeOf<'supplier' | 'customer'>();
  expectTypeOf(service.interfaces.supplier.account).toEqualTypeOf<'Supplier'>();
  expectTypeOf(service).toExtend<Service>();
});

test('completes an interface that says only what has no default', () => {
  expect(defineService({ names, interfaces: { customer } }).interfaces).toEqual({
    customer: { ...customer, path: '/customer', port: 4004, adminPort: 4104, records: [], versions: [] },
  });
});

test('gives interfaces ports that no other has', () => {
  const { interfaces } = defineService({
    names,
    interfaces: {
      buyer: { title: 'Buyer', account: 'Buyer' },
      customer: { ...customer, port: 4004, adminPort: 4105 },
      seller: { title: 'Seller', account: 'Seller' },
    },
  });
  expect(Object.values(interfaces).map(({ port, adminPort }) => [port, adminPort])).toEqual([
    [4006, 4106],
    [4004, 4105],
    [4007, 4107],
  ]);
});

test('refuses names that no role, header, key or identifier can have', () => {
  const wrong = {
    service: 'acme-shop',
    gidNamespace: 'Acme',
    apiKeyPrefix: 'a_k',
    headerPrefix: 'X-Acme:',
    userAgent: 'Acme Webhooks',
  } as const;
  expect(faultsOf({ customer }, { names: wrong })).toEqual([
    'The name service is "acme-shop", which does not match ^(?!pg(?:_|$))[a-z][a-z0-9_]{0,18}$.',
    'The name gidNamespace is "Acme", which does not match ^[a-z][a-z0-9-]{0,62}$.',
    'The name apiKeyPrefix is "a_k", which does not match ^[a-z][a-z0-9]{0,15}$.',
    'The name headerPrefix is "X-Acme:", which does not match ^X-[A-Z][A-Za-z0-9]{0,31}$.',
    'The name userAgent is "Acme Webhooks", which does not match ^[A-Z][A-Za-z0-9-]{0,63}$.',
  ]);
});

test.each(['pg', 'pg_shop', 'a'.repeat(20), ''])('refuses %j as the name of a service', (service) => {
  expect(faultsOf({ customer }, { names: { ...names, service } })).toEqual([
    expect.stringContaining(`The name service is ${JSON.stringify(service)}, which does not match`),
  ]);
});

test.each(['pgshop', 'a'.repeat(19), 'law_firm2'])('accepts %j as the name of a service', (service) => {
  expect(faultsOf({ customer }, { names: { ...names, service } })).toEqual([]);
});

test('names all faults at once', () => {
  const versions = ['2026-11-01', '2026-11-01', 'next'].map(versionOf);
  expect(
    faultsOf({
      Vendor: { title: ' ', account: 'Organization', path: 'vendor/', port: 0, adminPort: 4003, versions },
      customer: { ...customer, account: 'Organization', path: 'vendor/' },
    }),
  ).toEqual([
    '"Vendor": its name must consist of lowercase words with hyphens between them, 31 characters at most.',
    '"Vendor": its title must be one line, and not blank.',
    '"Vendor": the type of its accounts must be its own; Organization is one of the platform.',
    '"Vendor": its path must begin with a slash and not end with one; it is vendor/.',
    '"Vendor": 0 is not a port.',
    '"Vendor": its versions must be dates, oldest first; 2026-11-01 is none or comes too late.',
    '"Vendor": its versions must be dates, oldest first; next is none or comes too late.',
    '"customer": the type of its accounts must be its own; Organization is one of the platform.',
    '"customer": its path must begin with a slash and not end with one; it is vendor/.',
    'The type of accounts Organization is used by "Vendor" and by "customer".',
    'The path vendor/ is used by "Vendor" and by "customer".',
    'The port 4003 is used by the worker and by "Vendor" as adminPort.',
  ]);
});

test.each<[string, Partial<ServiceOptions['interfaces'][string]>, string, string]>([
  [
    'a day that its month lacks',
    { versions: [versionOf('2026-02-30')] },
    'vendor',
    'its versions must be dates, oldest first; 2026-02-30 is none or comes too late',
  ],
  ['a title of two lines', { title: 'Vendor\nname' }, 'vendor', 'its title must be one line, and not blank'],
  ['a name that PostgreSQL reserves', {}, 'pg', 'its name must not begin with the word pg'],
  [
    'a type of accounts that the database refuses',
    { account: `V${'x'.repeat(63)}` },
    'vendor',
    `the type of its accounts must be a name such as Customer; it is V${'x'.repeat(63)}`,
  ],
  ['a port that is no number', { port: Number.NaN }, 'vendor', 'NaN is not a port'],
])('refuses %s with one sentence', (_, more, name, fault) => {
  expect(faultsOf({ [name]: { title: 'Vendor', account: 'Vendor', ...more } })).toEqual([`"${name}": ${fault}.`]);
});

test('refuses a status that no version has', () => {
  const versions = [{ ...versionOf('2026-11-01'), status: JSON.parse('"bogus"') }];
  expect(faultsOf({ customer: { ...customer, versions } })).toEqual([
    '"customer": the status of its version 2026-11-01 must be preview, current, deprecated or retired; it is bogus.',
  ]);
});

test('names all faults of options that the compiler has not checked', () => {
  const { names: missing, interfaces, contracts } = JSON.parse('{ "interfaces": { "a": {} }, "contracts": null }');
  expect(faultsOf(interfaces, { names: missing, contracts })).toEqual([
    ...['service', 'gidNamespace', 'apiKeyPrefix', 'headerPrefix', 'userAgent'].map((name) =>
      expect.stringContaining(`The name ${name} is "", which does not match`),
    ),
    '"a": its title must be one line, and not blank.',
    '"a": the type of its accounts must be a name such as Customer; it is .',
  ]);
});

test('refuses a service without an interface', () => {
  expect(faultsOf({})).toEqual(['It needs an interface.']);
});

const orderPaid = defineEvent('order.paid', {
  record: { type: 'Order', id: ({ order }) => order },
  persons: ['buyer'],
  snapshot: z.object({ order: z.string(), buyer: z.string() }),
  sample: () => ({ order: '1', buyer: 'Ada' }),
});

const ofOrder = { record: 'Order', noun: 'order', address: 'buyer' };

function contractOf(type: string, versions: readonly [string, 'current' | 'retired'][], interfaces = ['customer']) {
  const data = z.strictObject({ order: z.string() });
  const lifecycle = { deprecatedOn: null, sunsetOn: null };
  return {
    type,
    description: 'An order was paid.',
    interfaces,
    versions: versions.map(([version, status]) => ({ version, status, ...lifecycle, data })),
  } satisfies EventContract;
}

test('joins each event with its contract, and knows the records of an interface', () => {
  const service = defineService({
    names,
    interfaces: { customer },
    contracts: [
      contractOf('order.paid', [
        ['2026-11-01', 'retired'],
        ['2027-02-01', 'current'],
      ]),
      contractOf('webhook.test', [['2026-11-01', 'current']]),
    ],
    events: [withRenderers(orderPaid, { '2027-02-01': render })],
    tables: { order: { persons: ofOrder } },
  });
  expect(service.interfaces.customer.records).toEqual(['Order']);
  expect(service.events.map(({ type, record, persons }) => [type, record?.type, persons])).toEqual([
    ['order.paid', 'Order', ['buyer']],
    ['webhook.test', undefined, []],
  ]);
  expect(service.events[0]?.versions.map(({ version, render: found }) => [version, found])).toEqual([
    ['2026-11-01', null],
    ['2027-02-01', render],
  ]);
});

test('names all faults of events', () => {
  expect(
    faultsOf(
      { customer },
      {
        contracts: [
          contractOf('order.lost', [['2026-11-01', 'current']]),
          contractOf('order.paid', [['2026-11-01', 'current']], ['customer', 'vendor']),
        ],
        events: [
          withRenderers(orderPaid, { '2027-02-01': () => ({}) }),
          withRenderers({ ...orderPaid, type: 'order.sent' }, {}),
          withRenderers({ ...orderPaid, type: 'webhook.test' }, {}),
        ],
      },
    ),
  ).toEqual([
    'The event order.sent has no contract.',
    'The event webhook.test is defined twice.',
    'The event webhook.test has no contract.',
    'The event order.lost has a contract and no definition.',
    'The event order.paid has no renderer of its version 2026-11-01.',
    'The event order.paid has a renderer of 2027-02-01, which its contract does not have or has retired.',
    'The event order.paid identifies persons, so it needs a record and one interface.',
    'The contract of the event order.paid names the interface vendor, which does not exist.',
    'Events of the interfaces customer and vendor identify persons of the record Order. It must be one.',
  ]);
});

test('an event with versions has its contract and its renderers, in the order of the types', () => {
  const orderSent = defineEvent('order.sent', {
    description: 'An order was sent.',
    interfaces: ['customer'],
    record: { type: 'Order', id: ({ id }) => id },
    snapshot: z.object({ id: z.string(), status: z.enum(['OPEN', 'SENT']) }),
    sample: () => ({ id: '1', status: 'SENT' as const }),
    versions: {
      '2026-11-01': { status: 'retired', deprecatedOn: '2027-01-01', sunsetOn: '2027-06-01', data: z.strictObject({}) },
      '2027-02-01': {
        status: 'current',
        data: z.strictObject({ orderId: z.string(), status: z.enum(['OPEN', 'SENT']) }),
        render: ({ id, status }) => ({ orderId: id, status }),
      },
    },
  });
  const contracts = [contractOf('order.paid', [['2026-11-01', 'current']])];
  const events = [orderSent, withRenderers(orderPaid, { '2026-11-01': render })];
  const service = defineService({ names, interfaces: { customer }, contracts, events });
  expect(service.events).toMatchObject([
    { type: 'order.paid' },
    {
      type: 'order.sent',
      description: 'An order was sent.',
      interfaces: ['customer'],
      versions: [
        { version: '2026-11-01', status: 'retired', sunsetOn: '2027-06-01', render: null },
        { version: '2027-02-01', status: 'current', deprecatedOn: null, sunsetOn: null },
      ],
    },
  ]);
  const [, rendered] = service.events[1]?.versions ?? [];
  expect(rendered?.render?.({ id: '7', status: 'SENT' })).toEqual({ orderId: '7', status: 'SENT' });
});

test('refuses an event with versions of which one has no renderer, or that has another contract', () => {
  const versions = { '2026-11-01': { status: 'current', data: z.strictObject({}) } } as const;
  const snapshot = z.object({});
  const options = { description: 'Sent.', interfaces: ['customer'], snapshot, sample: () => ({}), versions };
  const events = [defineEvent('order.sent', options)];
  expect(
    faultsOf({ customer }, { events, contracts: [contractOf('order.sent', [['2026-11-01', 'current']])] }),
  ).toEqual(
    expect.arrayContaining([
      'The event order.sent has no renderer of its version 2026-11-01.',
      'The event "order.sent": it has two contracts.',
    ]),
  );
});

/** The faults of a service with the event `order.paid` that has these properties. */
function faultsOfPaid(
  more: Partial<typeof orderPaid>,
  { account = 'Customer', tables = {} }: { account?: string; tables?: NonNullable<ServiceOptions['tables']> } = {},
): readonly string[] {
  return faultsOf(
    { customer: { title: 'Customer', account } },
    {
      contracts: [contractOf('order.paid', [['2026-11-01', 'current']])],
      events: [withRenderers({ ...orderPaid, ...more }, { '2026-11-01': render })],
      tables,
    },
  );
}

test('takes persons of a record without a table, unless it is an account', () => {
  expect([faultsOfPaid({}), faultsOfPaid({}, { account: 'Order' })]).toEqual([
    [],
    ['The event order.paid identifies persons, so a table needs `persons` of the record Order.'],
  ]);
});

test('refuses an event whose sample has no record of its type, and one about records of the platform', () => {
  const fault = 'The sample of the event order.paid has no record: The event order.paid is about the';
  const number = 'which must be a number that new_record_id() has drawn, or the global identifier of one.';
  const order = { type: 'Order', id: () => 'SO-1' };
  expect(faultsOfPaid({ record: order })).toEqual([]);
  expect(faultsOfPaid({ record: order }, { tables: { customer_order: { persons: ofOrder } } })).toEqual([
    `${fault} Order "SO-1", ${number}`,
  ]);
  expect(faultsOfPaid({ record: { ...order, type: 'Customer' }, persons: [] })).toEqual([
    `${fault} Customer "SO-1", ${number}`,
  ]);
  expect(faultsOfPaid({ record: { ...order, id: () => 'x'.repeat(201) } })).toEqual([
    expect.stringContaining('which must be a text of 1 to 200 bytes, or the global identifier of one.'),
  ]);
  for (const type of ['order', 'WebhookEvent'])
    expect(faultsOfPaid({ record: { ...order, type } })).toEqual([
      `The record of the event order.paid must have a type such as Order; it is ${type}.`,
    ]);
});

test('refuses persons that the sample of the event does not have', () => {
  const event = defineEvent('order.paid', {
    record: { type: 'Order', id: () => '1' },
    persons: ['home.city', 'home.zip', 'work.city'],
    snapshot: z.object({ home: z.object({ city: z.string() }), work: z.object({ city: z.string() }).nullable() }),
    sample: () => ({ home: { city: 'Bern' }, work: null }),
  });
  expect(
    faultsOf(
      { customer },
      {
        contracts: [contractOf('order.paid', [['2026-11-01', 'current']])],
        events: [withRenderers(event, { '2026-11-01': () => ({}) })],
        tables: { order: { persons: ofOrder } },
      },
    ),
  ).toEqual(['The event order.paid identifies persons by home.zip, which its sample does not have.']);
});

test('names all actions that the audit log would refuse, and those of clients that are not listed', () => {
  expect(
    faultsOf(
      { customer },
      {
        auditActions: { 'order.cancel': 'update', Order: 'update', [`order.${'x'.repeat(95)}`]: 'update' },
        clientActions: ['order.cancel', 'order.create'],
      },
    ),
  ).toEqual([
    '"Order" is not an action of the audit log, such as order.cancel.',
    `"order.${'x'.repeat(95)}" is not an action of the audit log, such as order.cancel.`,
    'Clients take the action order.create, which is not in `auditActions`.',
  ]);
});

test('refuses migrations that are no folder of this machine', () => {
  expect(faultsOf({ customer }, { migrations: new URL('https://shop.example/migrations/') })).toEqual([
    'Its migrations must be the `file:` URL of a folder; it is https://shop.example/migrations/.',
  ]);
});

test('refuses an address of an event that does not identify', () => {
  expect(
    faultsOf(
      { customer },
      {
        contracts: [contractOf('order.paid', [['2026-11-01', 'current']])],
        events: [withRenderers({ ...orderPaid, address: 'order' }, { '2026-11-01': render })],
        tables: { order: { persons: ofOrder } },
      },
    ),
  ).toEqual(['The event order.paid has the address order, which must be one of `persons`.']);
});

test('refuses persons of one record in two tables, or in events of two interfaces', () => {
  expect(
    faultsOf(
      { customer, supplier: { title: 'Supplier', account: 'Supplier' } },
      {
        contracts: [
          contractOf('order.paid', [['2026-11-01', 'current']]),
          contractOf('order.sent', [['2026-11-01', 'current']], ['supplier']),
        ],
        events: ['order.paid', 'order.sent'].map((type) =>
          withRenderers({ ...orderPaid, type }, { '2026-11-01': render }),
        ),
        tables: { order: { persons: ofOrder }, basket: { persons: ofOrder } },
      },
    ),
  ).toEqual([
    'The tables order and basket both have `persons` of the record Order.',
    'Events of the interfaces customer and supplier identify persons of the record Order. It must be one.',
  ]);
});

test('the paths that every snapshot has are those of its required members', () => {
  const snapshot = z.object({
    order: z.object({ id: z.string(), note: z.string().optional(), price: z.number().nullable() }),
    buyer: z.object({ name: z.string() }).nullable(),
    lines: z.array(z.object({ id: z.string() })),
    seller: z.object({ name: z.string() }).optional(),
    // `append` stores the default.
    currency: z.string().default('EUR'),
    terms: z.object({ days: z.number().default(30) }).default({ days: 30 }),
  });
  expect(requiredPaths({ snapshot })).toEqual([
    'order',
    'order.id',
    'order.price',
    'buyer',
    'lines',
    'currency',
    'terms',
    'terms.days',
  ]);
});

const form = 'its type must be <noun>.<participle>, for example order.paid, with 100 characters at most';

test.each<[string, EventContract[], string[]]>([
  ...['Order Paid\r\n', '', '__proto__', `order.${'x'.repeat(95)}`].map((type): [string, EventContract[], string[]] => [
    `the type ${JSON.stringify(type.slice(0, 20))}`,
    [contractOf(type, [['2026-11-01', 'retired']])],
    [form],
  ]),
  ['no version', [contractOf('order.paid', [])], ['it needs a version']],
  ['no interface', [contractOf('order.paid', [['2026-11-01', 'retired']], [])], ['it needs an interface']],
  [
    'an interface twice',
    [contractOf('order.paid', [['2026-11-01', 'retired']], ['customer', 'customer'])],
    ['its interfaces must differ'],
  ],
  [
    'versions in another order',
    [
      contractOf('order.paid', [
        ['2027-02-01', 'retired'],
        ['2026-11-01', 'retired'],
      ]),
    ],
    ['its versions must be dates, oldest first; 2026-11-01 is none or comes too late'],
  ],
  [
    'two contracts',
    [contractOf('order.paid', [['2026-11-01', 'retired']]), contractOf('order.paid', [['2026-11-01', 'retired']])],
    ['it has two contracts'],
  ],
])('refuses an event with %s', (_, contracts, faults) => {
  const [{ type } = { type: '' }] = contracts;
  const events = [withRenderers({ ...orderPaid, type, persons: [] }, {})];
  expect(faultsOf({ customer }, { contracts, events })).toEqual(
    faults.map((fault) => `The event ${JSON.stringify(type)}: ${fault}.`),
  );
});

test('knows the tables of the application, and which of them identify persons', () => {
  const persons = { record: 'Buyer', noun: 'buyer', address: 'email' };
  const { tables, persons: found } = defineService({
    names,
    interfaces: { customer },
    tables: { order: {}, buyer: { persons } },
  });
  expect(tables).toEqual(['order', 'buyer']);
  expect(found).toEqual([{ table: 'buyer', ...persons, columns: [], knownBy: [], isAddressUnique: false }]);
});

test('names all tables, columns and sequences that cannot be parts of SQL', () => {
  const persons = { record: 'Buyer', noun: 'buyer', address: 'email; drop', columns: ['name', 'last name'] };
  expect(
    faultsOf(
      { customer },
      { tables: { 'order item': {}, buyer: { persons } }, sequences: { 'order-number': 'the number' } },
    ),
  ).toEqual(
    ['order item', 'email; drop', 'last name', 'order-number'].map(
      (name) => `${JSON.stringify(name)} is not the name of a table, a column or a sequence.`,
    ),
  );
});
