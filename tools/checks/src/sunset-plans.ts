import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A file beside the changeset that releases a sunset: `.changeset/<name>.plan.json`. */
interface SunsetPlan {
  /** `lender@2026-11-01` or `referral.converted@2026-11-01` */
  version: string;
  sunsetOn: string;
  /** One for each line of `deedwire-operator version usage`. */
  clients: { client: string; pin: string | null; agreedOn: string }[];
}

/** What is wrong with the plans of the sunsets in `versions.json`. A sunset can move to a later day without another plan. */
export function sunsetProblems(root: string): string[] {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  const files = globSync('.changeset/*.plan.json', { cwd: root }).map((path) => ({ path, plan: planOf(path) }));
  const plans = files.flatMap(({ plan }) => plan ?? []);
  const sunsets = globSync('packages/*/versions.json', { cwd: root })
    .toSorted()
    .flatMap((path) => sunsetsIn(read(path), [basename(dirname(path)).replace(/-schema$/, '')]));
  return [
    ...files.flatMap(({ path, plan }) => (plan === null ? [`${path}: ${incomplete}`] : [])),
    ...sunsets
      .filter((ending) => !plans.some((plan) => plan.version === ending.version && plan.sunsetOn <= ending.sunsetOn))
      .map(({ version, sunsetOn }) => `${version}: its sunset on ${sunsetOn} has no plan. ${write}`),
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

/** @param keys the names around the value, of which the last two are the interface or the event type, and the version */
function sunsetsIn(value: object, keys: readonly string[]): { version: string; sunsetOn: string }[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (key === 'sunsetOn' && typeof inner === 'string')
      return [{ version: keys.slice(-2).join('@'), sunsetOn: inner }];
    return typeof inner === 'object' && inner !== null ? sunsetsIn(inner, [...keys, key]) : [];
  });
}

function isPlan({ version, sunsetOn, clients }: Partial<SunsetPlan>): boolean {
  const isClient = ({ client, pin, agreedOn }: Partial<SunsetPlan['clients'][number]>): boolean =>
    Boolean(client) && pin !== undefined && isDay(agreedOn) && agreedOn <= String(sunsetOn);
  return Boolean(version) && isDay(sunsetOn) && Array.isArray(clients) && clients.every(isClient);
}

function isDay(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}
