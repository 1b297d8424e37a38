import { createHash } from 'node:crypto';
import type { Build, Environment } from '../../src/environment/generated/files.ts';

const dayMs = 86_400_000;

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** `ms` before now, as an export writes it. */
export function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

const object = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});

export const sdl = `type Query { entry: Entry }
type Entry { id: ID! note: String total: Int @deprecated(reason: "Use id.") }
`;

/** A build. `without` leaves out members of lists, by their names. */
export function buildOf(
  app: string,
  version: string,
  {
    serves = {},
    pins = [],
    appends = {},
    renders = {},
    migration = '0047-a',
  }: {
    /** Version → SDL. */
    serves?: Readonly<Record<string, string>>;
    pins?: readonly string[];
    /** Type → properties of the snapshot. */
    appends?: Readonly<Record<string, readonly string[]>>;
    /** Event version → properties of the snapshot that it needs. */
    renders?: Readonly<Record<string, readonly string[]>>;
    migration?: string;
  },
): Build {
  const lifecycle = { deprecatedOn: '2020-01-01', sunsetOn: null };
  return {
    formatVersion: 1,
    app,
    version,
    commit: null,
    migration,
    serves: Object.entries(serves).map(([name, text]) => ({
      interface: 'customer',
      version: name,
      package: '@books/customer-schema',
      packageVersion: '1.0.0',
      file: `versions/${name}.graphql`,
      sha256: sha256(text),
      ...lifecycle,
      sdl: text,
    })),
    pins: pins.map((event) => ({ event, ...lifecycle })),
    appends: Object.entries(appends).map(([type, names]) => ({ type, snapshot: object(...names) })),
    renders: Object.entries(renders).map(([event, names]) => ({ event, needs: object(...names) })),
  };
}

export const api = {
  serves: { '2026-11-01': sdl, '2027-02-01': sdl },
  pins: ['entry.posted@2026-11-01'],
  appends: { 'entry.posted': ['id', 'kind'] },
};
export const worker = { renders: { 'entry.posted@2026-11-01': ['id'], 'entry.posted@2026-01-01': ['id'] } };

type Exported = Omit<Environment, 'rowCounts' | 'digest'>;

function digestOf(build: Build): string {
  return sha256(`${JSON.stringify(build, null, 2)}\n`);
}

/** Of a period in which everything was counted. */
export const counted = {
  instance: 'a',
  overflowed: false,
  coordinates: '2026-11-01 Entry.total\n2027-02-01 Entry.total',
};

/** An environment in which everything is live and complete. */
export function environmentOf(
  builds: readonly Build[] = [buildOf('customer-api', '0.5.0', api), buildOf('webhook-worker', '0.4.1', worker)],
  changes: Partial<Exported> = {},
): Exported {
  return {
    formatVersion: 1,
    environment: 'production',
    installation: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    takenAt: ago(20_000),
    migration: '0047-a',
    needsMigration: null,
    expectedApps: ['customer-api', 'webhook-worker'],
    otherApps: ['operator-cli'],
    processes: builds.map((build) => ({
      app: build.app,
      version: build.version,
      digest: digestOf(build),
      startedAt: ago(dayMs),
      lastSeenAt: ago(40_000),
    })),
    contracts: Object.fromEntries(builds.map((build) => [digestOf(build), build])),
    pins: [],
    queued: [],
    isQueueCut: false,
    uses: [],
    counting: [{ app: 'customer-api', from: ago(100 * dayMs), until: ago(60_000), ...counted }],
    gaps: [],
    ...changes,
  };
}

/** The text of the file, with its counts and its digest. */
export function exported(environment: Readonly<Record<string, unknown>> | Exported): string {
  const lists = ['expectedApps', 'processes', 'contracts', 'pins', 'queued', 'uses', 'counting', 'gaps'];
  const counts = lists.map((list) => [list, Object.keys(Object(Reflect.get(environment, list))).length]);
  return signed({ ...environment, rowCounts: Object.fromEntries(counts) });
}

/** The text of an object, with a digest of the other members. */
export function signed(environment: object): string {
  return JSON.stringify({ ...environment, digest: sha256(JSON.stringify(environment)) });
}
