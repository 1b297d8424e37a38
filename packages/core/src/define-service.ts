import { recordOfSnapshot } from './event-record.ts';
import type { Event, EventContract, EventDefinition, PublishedEvent, RenderData, RenderedEvent } from './event.ts';
import { ownEvents } from './generated/own-events.ts';
import { findNameFaults, isInterfaceName } from './name-forms.ts';
import type { Interface, InterfaceOptions, PersonTable, Service, ServiceOf, ServiceOptions } from './service.ts';
import { startOfDay } from './version-lifecycle.ts';

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

/** That of its column. */
const eventTypeMaxLength = 100;

/** That of its column. */
const auditActionMaxLength = 100;

/** Who has a value that only one may have. */
type Use = [user: string, value: number | string];

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
  const entries = Object.entries<Partial<InterfaceOptions>>(options.interfaces);
  const ports = entries.flatMap(([, { port, adminPort }]) => [port, adminPort]);
  const taken = new Set([workerAdminPort, ...ports.filter((port) => port !== undefined)]);
  const { names } = options;
  const { events, faults: faultsOfEvents } = joinEvents(options.contracts ?? [], options.events ?? []);
  const interfaces = entries.map(([name, { title = '', account = '', path = `/${name}`, versions = [], ...own }]) => {
    const records = new Set(
      events.flatMap((each) => (each.interfaces.includes(name) ? (each.record?.type ?? []) : [])),
    );
    const pair = own.port === undefined || own.adminPort === undefined ? nextPair(taken) : null;
    const { port = pair ?? 0, adminPort = (pair ?? 0) + 100 } = own;
    return [name, { title, account, path, port, adminPort, records: [...records], versions }] as const;
  });
  const { tables = {}, sequences = {}, auditActions = {}, clientActions = [], migrations = null } = options;
  const persons = Object.entries(tables).flatMap(([table, { persons: of }]): PersonTable[] =>
    of === undefined ? [] : [{ table, isAddressUnique: false, columns: [], knownBy: [], ...of }],
  );
  const faults = [
    ...findNameFaults(names),
    ...findFaults(interfaces),
    ...faultsOfEvents,
    ...findForeignNames(events, options.interfaces),
    ...findPersonsWithoutTable(events, persons, interfaces),
    ...findSharedRecords(events, persons),
    // They are parts of SQL.
    ...[...Object.keys(tables), ...persons.flatMap((of) => [of.address, ...of.columns]), ...Object.keys(sequences)]
      .filter((name) => !/^[a-z][a-z\d_]{0,62}$/.test(name))
      .map((name) => `${JSON.stringify(name)} is not the name of a table, a column or a sequence.`),
    ...Object.keys(auditActions)
      .filter((action) => action.length > auditActionMaxLength || !/^[a-z_]+\.[a-z_-]+$/.test(action))
      .map((action) => `${JSON.stringify(action)} is not an action of the audit log, such as order.cancel.`),
    ...(migrations === null || migrations.protocol === 'file:'
      ? []
      : [`Its migrations must be the \`file:\` URL of a folder; it is ${migrations.href}.`]),
    ...clientActions
      .filter((action) => !Object.hasOwn(auditActions, action))
      .map((action) => `Clients take the action ${action}, which is not in \`auditActions\`.`),
  ];
  if (faults.length > 0) throw new ServiceError(faults);
  const value = { names, interfaces: Object.fromEntries(interfaces), events, tables: Object.keys(tables), persons };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has each name
  const service = { ...value, sequences, auditActions, clientActions, migrations } as unknown as ServiceOf<Options>;
  const faultsOfSamples = findRecordFaults(service);
  if (faultsOfSamples.length > 0) throw new ServiceError(faultsOfSamples);
  return service;
}

/** Without what the contract has, and the renderers. */
const definitionOf = ({
  record,
  persons,
  address,
  snapshot,
  sample,
}: RenderedEvent): Omit<EventDefinition, 'type'> => ({
  record,
  persons,
  address,
  snapshot,
  sample,
});

/** Gives each contract its event. */
function joinEvents(given: readonly EventContract[], further: readonly (RenderedEvent | PublishedEvent)[]) {
  const faults: string[] = [];
  const published = further.flatMap((event) => ('contract' in event ? [event.contract] : []));
  const contracts = [...given, ...published].toSorted((one, other) =>
    one.type < other.type ? -1 : Number(one.type > other.type),
  );
  const definitions = new Map(ownEvents.map((event) => [event.type, event]));
  for (const event of further) {
    if (definitions.has(event.type)) faults.push(`The event ${event.type} is defined twice.`);
    if (!contracts.some(({ type }) => type === event.type)) faults.push(`The event ${event.type} has no contract.`);
    definitions.set(event.type, event);
  }
  const events = contracts.flatMap((contract, index): Event[] => {
    faults.push(...findContractFaults(contract));
    if (contracts.findIndex(({ type }) => type === contract.type) < index)
      faults.push(`The event ${JSON.stringify(contract.type)}: it has two contracts.`);
    const definition = definitions.get(contract.type);
    if (definition !== undefined) return [joinEvent(contract, definition, faults)];
    faults.push(`The event ${contract.type} has a contract and no definition.`);
    return [];
  });
  return { events, faults };
}

function findContractFaults({ type, interfaces, versions }: EventContract): string[] {
  const isType = type.length <= eventTypeMaxLength && /^[a-z]+(?:_[a-z]+)*\.[a-z]+(?:_[a-z]+)*$/.test(type);
  return [
    isType ||
      `its type must be <noun>.<participle>, for example order.paid, with ${eventTypeMaxLength} characters at most`,
    interfaces.length > 0 || 'it needs an interface',
    new Set(interfaces).size === interfaces.length || 'its interfaces must differ',
    versions.length > 0 || 'it needs a version',
    ...findVersionFaults(versions),
  ].flatMap((fault) => (fault === true ? [] : [`The event ${JSON.stringify(type)}: ${fault}.`]));
}

function findVersionFaults(versions: readonly { version: string; status: string }[]): string[] {
  return versions.flatMap(({ version, status }, index) => [
    ...(isDate(version) && !versions.slice(0, index).some((other) => other.version >= version)
      ? []
      : [`its versions must be dates, oldest first; ${version} is none or comes too late`]),
    ...(['preview', 'current', 'deprecated', 'retired'].includes(status)
      ? []
      : [`the status of its version ${version} must be preview, current, deprecated or retired; it is ${status}`]),
  ]);
}

/** Whether the text is a day of the calendar. `Date` counts days that a month lacks on into the next. */
function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && startOfDay(text)?.toISOString().startsWith(text) === true;
}

function joinEvent(contract: EventContract, rendered: RenderedEvent, faults: string[]): Event {
  const { renderers } = rendered;
  const definition = definitionOf(rendered);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outbox stores each snapshot under its event type
  const known = renderers as Readonly<Record<string, RenderData<unknown>>>;
  const versions = contract.versions.map((version) => {
    const render = Object.hasOwn(known, version.version) ? (known[version.version] ?? null) : null;
    if (render === null && version.status !== 'retired')
      faults.push(`The event ${contract.type} has no renderer of its version ${version.version}.`);
    return { ...version, render };
  });
  const served = versions.filter(({ status }) => status !== 'retired').map(({ version }) => version);
  for (const version of Object.keys(known).filter((each) => !served.includes(each)))
    faults.push(
      `The event ${contract.type} has a renderer of ${version}, which its contract does not have or has retired.`,
    );
  if (definition.record !== null && (!isTypeName(definition.record.type) || isOwn(definition.record.type)))
    faults.push(
      `The record of the event ${contract.type} must have a type such as Order; it is ${definition.record.type}.`,
    );
  if (definition.persons.length > 0 && (definition.record === null || contract.interfaces.length !== 1))
    faults.push(`The event ${contract.type} identifies persons, so it needs a record and one interface.`);
  if (definition.address !== null && !definition.persons.includes(definition.address))
    faults.push(`The event ${contract.type} has the address ${definition.address}, which must be one of \`persons\`.`);
  const sample = definition.persons.length > 0 ? definition.sample('service') : {};
  for (const path of definition.persons.filter((each) => !hasPath(sample, each.split('.'))))
    faults.push(`The event ${contract.type} identifies persons by ${path}, which its sample does not have.`);
  return { ...definition, ...contract, versions };
}

/** Of what is null in the sample, any path is accepted. */
function hasPath(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined || value === null) return true;
  const found = new Map(Object.entries(Object(value)));
  return found.has(name) && hasPath(found.get(name), rest);
}

/** Of an account, `person erase` replaces only what rows of these tables say. Of other records without a table, only events identify persons. */
function findPersonsWithoutTable(
  events: readonly Event[],
  tables: readonly PersonTable[],
  interfaces: readonly (readonly [name: string, Interface])[],
): string[] {
  const accounts = interfaces.map(([, { account }]) => account);
  return events.flatMap(({ type, persons, record }) =>
    record !== null &&
    persons.length > 0 &&
    accounts.includes(record.type) &&
    !tables.some((table) => table.record === record.type)
      ? [`The event ${type} identifies persons, so a table needs \`persons\` of the record ${record.type}.`]
      : [],
  );
}

/** What the samples of events say of their records. */
function findRecordFaults(service: Service): string[] {
  const context = { service, gidNamespace: service.names.gidNamespace };
  return service.events.flatMap((event) => {
    try {
      recordOfSnapshot(context, event, event.sample(context.gidNamespace));
      return [];
    } catch (error) {
      return [
        `The sample of the event ${event.type} has no record: ${error instanceof Error ? error.message : String(error)}`,
      ];
    }
  });
}

/** `person erase` finds the rows and the account of a person by the type of the record alone. */
function findSharedRecords(events: readonly Event[], tables: readonly PersonTable[]): string[] {
  const personal = events.filter(({ persons }) => persons.length > 0);
  const types = new Set([
    ...tables.map((table) => table.record),
    ...personal.flatMap((event) => event.record?.type ?? []),
  ]);
  return [...types].flatMap((record) => {
    const ofRecord = tables.filter((table) => table.record === record);
    const interfaces = new Set(personal.flatMap((event) => (event.record?.type === record ? event.interfaces : [])));
    return [
      ...(ofRecord.length > 1
        ? [
            `The tables ${ofRecord.map(({ table }) => table).join(' and ')} both have \`persons\` of the record ${record}.`,
          ]
        : []),
      ...(interfaces.size > 1
        ? [
            `Events of the interfaces ${[...interfaces].join(' and ')} identify persons of the record ${record}. It must be one.`,
          ]
        : []),
    ];
  });
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
      isInterfaceName(name) ||
        'its name must consist of lowercase words with hyphens between them, 31 characters at most',
      // PostgreSQL reserves the names of roles that begin with `pg_`.
      !/^pg(?:-|$)/.test(name) || 'its name must not begin with the word pg',
      /^\P{C}*[^\p{C}\s]\P{C}*$/u.test(title) || 'its title must be one line, and not blank',
      isTypeName(account) || `the type of its accounts must be a name such as Customer; it is ${account}`,
      !isOwn(account) || `the type of its accounts must be its own; ${account} is one of the platform`,
      /^(?:\/[a-z\d-]+)+$/.test(path) || `its path must begin with a slash and not end with one; it is ${path}`,
      ...[port, adminPort].map(
        (each) => (Number.isInteger(each) && each > 0 && each < 65_536) || `${each} is not a port`,
      ),
      ...findVersionFaults(versions),
    ].flatMap((fault) => (fault === true ? [] : [`${JSON.stringify(name)}: ${fault}.`])),
  );
  const ports = interfaces.flatMap(([name, { port, adminPort }]): Use[] => [
    [`${JSON.stringify(name)} as port`, port],
    [`${JSON.stringify(name)} as adminPort`, adminPort],
  ]);
  const unique: [what: string, uses: Use[]][] = [
    ['type of accounts', interfaces.map(([name, { account }]) => [JSON.stringify(name), account])],
    ['path', interfaces.map(([name, { path }]) => [JSON.stringify(name), path])],
    ['port', [['the worker', workerAdminPort], ...ports]],
  ];
  return [
    ...(interfaces.length === 0 ? ['It needs an interface.'] : []),
    ...faults,
    ...unique.flatMap(([what, uses]) =>
      Array.from(Map.groupBy(uses, ([, value]) => value))
        .filter(([, { length }]) => length > 1)
        .map(([value, same]) => `The ${what} ${value} is used by ${same.map(([user]) => user).join(' and by ')}.`),
    ),
  ];
}

function isOwn(typeName: string): boolean {
  return ownRecordTypes.includes(typeName);
}

function isTypeName(text: string): boolean {
  return /^[A-Z][A-Za-z\d]{0,62}$/.test(text);
}
