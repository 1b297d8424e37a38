import type { Event, EventContract, RenderData, RenderedEvent } from './event.ts';
import { ownEvents } from './generated/own-events.ts';
import { findNameFaults } from './name-forms.ts';
import type { Interface, InterfaceOptions, PersonTable, ServiceOf, ServiceOptions } from './service.ts';

/** The types of records of the platform itself. */
const ownRecordTypes = [
  'ApiClient',
  'Organization',
  'PortalSession',
  'WebhookDelivery',
  'WebhookEvent',
  'WebhookListener',
  'WebhookReplay',
  'WebhookSubscription',
];

/** Of the worker, which has no other port. */
const workerAdminPort = 4003;

/** The faults of a service, all of them. */
export class ServiceError extends TypeError {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The service is not valid:\n${faults.map((fault) => `- ${fault}`).join('\n')}`);
    this.name = 'ServiceError';
    this.faults = faults;
  }
}

/**
 * Checks what an application says of itself, and completes it. The apps of its interfaces, the worker and the operator's command line
 * take the same value.
 *
 * @throws {ServiceError} with all faults
 */
export function defineService<const Options extends ServiceOptions>(options: Options): ServiceOf<Options> {
  const entries = Object.entries<InterfaceOptions>(options.interfaces);
  const ports = entries.flatMap(([, { port, adminPort }]) => [port, adminPort]);
  const taken = new Set([workerAdminPort, ...ports.filter((port) => port !== undefined)]);
  const { names, contracts = [], events: further = [] } = options;
  const { events, faults: faultsOfEvents } = joinEvents(contracts, further);
  const interfaces = entries.map(([name, { title, account, path = `/${name}`, versions = [], ...own }]) => {
    const records = new Set(events.flatMap((each) => (each.interfaces.includes(name) ? (each.record ?? []) : [])));
    const pair = own.port === undefined || own.adminPort === undefined ? nextPair(taken) : null;
    const { port = pair ?? 0, adminPort = (pair ?? 0) + 100 } = own;
    return [name, { title, account, path, port, adminPort, records: [...records], versions }] as const;
  });
  const { tables = {}, sequences = {}, auditActions = {} } = options;
  const persons = Object.entries(tables).flatMap(([table, { persons: of }]): PersonTable[] =>
    of === undefined ? [] : [{ table, isAddressUnique: false, ...of }],
  );
  const faults = [
    ...findNameFaults(names),
    ...findFaults(interfaces),
    ...faultsOfEvents,
    ...findForeignNames(events, options.interfaces),
    // They are parts of SQL.
    ...[...Object.keys(tables), ...persons.map(({ address }) => address), ...Object.keys(sequences)]
      .filter((name) => !/^[a-z][a-z\d_]{0,62}$/.test(name))
      .map((name) => `${JSON.stringify(name)} is not the name of a table, a column or a sequence.`),
  ];
  if (faults.length > 0) throw new ServiceError(faults);
  const value = { names, interfaces: Object.fromEntries(interfaces), events, tables: Object.keys(tables), persons };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  return { ...value, sequences, auditActions } as unknown as ServiceOf<Options>;
}

/** Gives each contract its event. */
function joinEvents(contracts: readonly EventContract[], further: readonly RenderedEvent[]) {
  const faults: string[] = [];
  const definitions = new Map(ownEvents.map((event) => [event.type, event]));
  for (const event of further) {
    if (definitions.has(event.type)) faults.push(`The event ${event.type} is defined twice.`);
    if (!contracts.some(({ type }) => type === event.type)) faults.push(`The event ${event.type} has no contract.`);
    definitions.set(event.type, event);
  }
  const events = contracts.flatMap((contract): Event[] => {
    const definition = definitions.get(contract.type);
    if (definition !== undefined) return [joinEvent(contract, definition, faults)];
    faults.push(`The event ${contract.type} has a contract and no definition.`);
    return [];
  });
  return { events, faults };
}

function joinEvent(contract: EventContract, { renderers, ...definition }: RenderedEvent, faults: string[]): Event {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outbox stores each snapshot under its event type
  const known = renderers as Readonly<Record<string, RenderData<unknown>>>;
  const versions = contract.versions.map((version) => {
    const render = Object.hasOwn(known, version.version) ? (known[version.version] ?? null) : null;
    if (render === null && version.status !== 'retired')
      faults.push(`The event ${contract.type} has no renderer of its version ${version.version}.`);
    return { ...version, render };
  });
  const rendered = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
  for (const version of Object.keys(known).filter((each) => !rendered.includes(each)))
    faults.push(
      `The event ${contract.type} has a renderer of ${version}, which its contract does not have or has retired.`,
    );
  if (definition.record !== null && !isTypeName(definition.record))
    faults.push(`The record of the event ${contract.type} must be a name such as Order; it is ${definition.record}.`);
  if (definition.persons.length > 0 && (definition.record === null || contract.interfaces.length !== 1))
    faults.push(`The event ${contract.type} identifies persons, so it needs a record and one interface.`);
  return { ...definition, ...contract, versions };
}

function findForeignNames(events: readonly Event[], interfaces: ServiceOptions['interfaces']): string[] {
  return events.flatMap(({ type, interfaces: names }) =>
    names
      .filter((name) => !Object.hasOwn(interfaces, name))
      .map((name) => `The contract of the event ${type} names the interface ${name}, which does not exist.`),
  );
}

/** Takes a port for clients. That of operators is 100 higher. */
function nextPair(taken: Set<number>): number {
  let port = workerAdminPort + 1;
  while (taken.has(port) || taken.has(port + 100)) port += 1;
  taken.add(port).add(port + 100);
  return port;
}

function findFaults(interfaces: readonly (readonly [name: string, Interface])[]): string[] {
  const faults = interfaces.flatMap(([name, { title, account, path, port, adminPort, versions }]) =>
    [
      /^(?=.{1,31}$)[a-z]+(?:-[a-z]+)*$/.test(name) ||
        'its name must consist of lowercase words with hyphens between them, 31 characters at most',
      title.trim() !== '' || 'its title must not be blank',
      isTypeName(account) || `the type of its accounts must be a name such as Customer; it is ${account}`,
      !ownRecordTypes.includes(account) ||
        `the type of its accounts must be its own; ${account} is one of the platform`,
      /^(?:\/[a-z\d-]+)+$/.test(path) || `its path must begin with a slash and not end with one; it is ${path}`,
      ...[port, adminPort].map(
        (each) => (Number.isInteger(each) && each > 0 && each < 65_536) || `${each} is not a port`,
      ),
      ...versions.map(
        ({ version }, index) =>
          (/^\d{4}-\d\d-\d\d$/.test(version) && !versions.slice(0, index).some((other) => other.version >= version)) ||
          `its versions must be dates, oldest first; ${version} is none or comes too late`,
      ),
    ].flatMap((fault) => (fault === true ? [] : [`${JSON.stringify(name)}: ${fault}.`])),
  );
  const unique: [what: string, values: (number | string)[]][] = [
    ['type of accounts', interfaces.map(([, { account }]) => account)],
    ['path', interfaces.map(([, { path }]) => path)],
    ['port', [workerAdminPort, ...interfaces.flatMap(([, { port, adminPort }]) => [port, adminPort])]],
  ];
  return [
    ...(interfaces.length === 0 ? ['It needs an interface.'] : []),
    ...faults,
    ...unique.flatMap(([what, values]) =>
      values
        .filter((value, index) => values.indexOf(value) < index)
        .map((value) => `The ${what} ${value} is used twice.`),
    ),
  ];
}

function isTypeName(text: string): boolean {
  return /^[A-Z][A-Za-z\d]*$/.test(text);
}
