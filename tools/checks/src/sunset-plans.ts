import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readLayouts } from '@deedwire/layout';
import { workspaceRoot } from './run.ts';

/** A file beside the changeset that releases a sunset, until the version is removed: `.changeset/<name>.plan.json`. */
interface SunsetPlan {
  /** `customer@2026-11-01` or `order.placed@2026-11-01` */
  version: string;
  sunsetOn: string;
  /** One for each line of `deedwire-operator version usage`. */
  clients: { client: string; pin: string | null; agreedOn: string }[];
  /** Once the version is removed: what `contract-check can-i-retire --format json` prints. */
  retired?: { question: string; subject: string; answer: string; environment: string; takenAt: string };
}

/** Of a version in `versions.json`, or in a release of `releases.json`. */
interface State {
  version: string;
  status?: unknown;
  sunsetOn?: unknown;
}

/** The folders with the contracts of all services of the workspace, and the packages with those of the platform. */
export async function contractFolders(): Promise<string[]> {
  const ofServices = (await readLayouts()).flatMap(({ interfaceNames, contractOf, payloads }) => [
    ...interfaceNames.map(contractOf),
    ...(payloads === null ? [] : [payloads]),
  ]);
  return [...new Set([...globSync('packages/*', { cwd: workspaceRoot }), ...ofServices])];
}

/**
 * What is wrong with the plans of the sunsets in `versions.json`, and with those of released versions that are removed. A sunset can
 * move to a later day without another plan.
 *
 * @param folders with contracts, relative to the root
 * @param now of a release: the answer about a removed version is at most a day old. Null if its age does not matter yet
 */
export function sunsetProblems(root: string, folders: readonly string[], now: Date | null = null): string[] {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const readAll = (name: string) =>
    folders
      .map((folder) => `${folder}/${name}.json`)
      .filter((path) => existsSync(join(root, path)))
      .toSorted()
      .map((path) => [basename(dirname(path)).replace(/-schema$/, ''), read(path)] as const);
  const files = globSync('.changeset/*.plan.json', { cwd: root }).map((path) => ({ path, plan: planOf(path) }));
  const plans = files.flatMap(({ plan }) => plan ?? []);
  const states = readAll('versions').flatMap(([name, versions]) => statesIn(versions, [name]));
  const records = readAll('releases').flatMap(([name, releases]) =>
    Object.values(releases).flatMap((record) => statesIn(Object(record), [name])),
  );
  // The newest release is last.
  const released = new Map(records.map(({ version, status }) => [version, status]));
  const served = new Set(states.flatMap(({ version, status }) => (status === 'retired' ? [] : [version])));
  return [
    ...files.flatMap(({ path, plan }) => (plan === null ? [`${path}: ${incomplete}`] : [])),
    ...states.flatMap(({ version, sunsetOn }) =>
      typeof sunsetOn !== 'string' || plans.some((plan) => plan.version === version && plan.sunsetOn <= sunsetOn)
        ? []
        : [`${version}: its sunset on ${sunsetOn} has no plan. ${write}`],
    ),
    ...[...released]
      .filter(([version, status]) => (status === 'current' || status === 'deprecated') && !served.has(version))
      .filter(([version]) => !plans.some((plan) => plan.version === version && isUnused(plan, now)))
      .map(([version]) => `${version}: it is removed, and may be in use. ${ask}`),
  ];

  function planOf(path: string): SunsetPlan | null {
    try {
      const plan = read(path);
      return isPlan(plan) ? plan : null;
    } catch {
      return null;
    }
  }
}

const incomplete = 'needs version, sunsetOn and clients, each with client, pin and agreedOn (not after sunsetOn)';
const write = 'Write .changeset/<name>.plan.json';
const ask =
  'Add a yes of contract-check can-i-retire --format json, at most a day old, to its .changeset/<name>.plan.json as `retired`';

/** @param keys the names around the value, of which the last two are the interface or the event type, and the version */
function statesIn(value: object, keys: readonly string[]): State[] {
  if ('status' in value) return [{ ...value, version: keys.slice(-2).join('@') }];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    statesIn(Object(inner), [...keys, ...key.split('/')]),
  );
}

/** Whether the plan has an answer that no client uses its version. If `now` is given, the answer is at most a day old. */
function isUnused({ version, retired }: SunsetPlan, now: Date | null): boolean {
  const ageMs = (now?.getTime() ?? Number.NaN) - Date.parse(retired?.takenAt ?? '');
  const isAnswer = retired?.question === 'can-i-retire' && retired.subject === version && Boolean(retired.environment);
  return isAnswer && retired.answer === 'yes' && (now === null || (ageMs >= -60_000 && ageMs <= 86_400_000));
}

function isPlan({ version, sunsetOn, clients }: Partial<SunsetPlan>): boolean {
  const isClient = ({ client, pin, agreedOn }: Partial<SunsetPlan['clients'][number]>): boolean =>
    Boolean(client) && pin !== undefined && isDay(agreedOn) && agreedOn <= String(sunsetOn);
  return Boolean(version) && isDay(sunsetOn) && Array.isArray(clients) && clients.every(isClient);
}

function isDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}
