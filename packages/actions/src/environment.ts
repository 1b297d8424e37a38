import { hash } from 'node:crypto';
import { versions as lenderVersions } from '@deedwire/lender-schema';
import { versions as partnerVersions } from '@deedwire/partner-schema';
import { type Counting, selectEnvironment, selectVersionUse, type VersionUse } from '@deedwire/store/environment';
import { webhookEventTypes } from '@deedwire/webhook-events';
import type { ActionContext } from './context.ts';

const expectedApps = ['lender-api', 'partner-api', 'webhook-worker'] as const;
/** Those that run only now and then. */
const otherApps = ['operator-cli'] as const;

/** A process records its counts every minute. */
const openMaxMs = 150_000;
const minuteMs = 60_000;

/** A period in which use may not have been counted. */
interface Gap {
  app: string;
  from: string;
  until: string;
  reason: string;
}

/** What runs in an environment, what its clients pin and what they use: the file that `contract-check can-i-deploy` reads. */
export async function exportEnvironment({ store, gidNamespace }: ActionContext, environment: string) {
  const selected = await selectEnvironment(store, gidNamespace);
  const { processes, contracts, pins, queued, uses, counting } = selected;
  const gaps = gapsOf(counting, selected.takenAt);
  const rows = { expectedApps, processes, contracts, pins, queued, uses, counting, gaps };
  const rowCounts = Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, Object.keys(list).length]));
  const written = { formatVersion: 1, environment, ...selected, expectedApps, otherApps, gaps, rowCounts };
  return { ...written, digest: hash('sha256', JSON.stringify(written)) };
}

/**
 * The periods in which use may be lost: after the last counts of a process that was killed or could not store them, in an overflow,
 * and while no process of an app counted.
 *
 * @param rows of each app in the order of their starts
 */
export function gapsOf(rows: readonly Omit<Counting, 'overflowed' | 'coordinates'>[], takenAt: Date): Gap[] {
  const gaps: Gap[] = [];
  const countedUntil = new Map<string, number>();
  const add = (app: string, fromMs: number, untilMs: number, reason: string): void => {
    if (untilMs <= fromMs) return;
    gaps.push({ app, from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString(), reason });
  };
  const nowMs = takenAt.getTime();
  for (const { app, state, ...times } of rows) {
    const fromMs = Date.parse(times.from);
    const untilMs = Date.parse(times.until);
    const seenMs = Date.parse(times.seenAt);
    const isCounting = state === 'OPEN' && nowMs - Date.parse(times.recordedAt) <= openMaxMs;
    add(app, countedUntil.get(app) ?? fromMs, fromMs, 'no process counted');
    if (state === 'OVERFLOWED') add(app, fromMs, untilMs, 'too many keys to count');
    if (state === 'LOST') add(app, untilMs, seenMs, 'counts were not stored');
    if (state === 'OPEN' && !isCounting)
      add(app, untilMs, Math.min(seenMs + minuteMs, nowMs), 'a process ended without storing its counts');
    countedUntil.set(app, Math.max(countedUntil.get(app) ?? 0, isCounting ? nowMs : untilMs));
  }
  for (const [app, untilMs] of countedUntil) add(app, untilMs, nowMs, 'no process counted');
  return gaps.toSorted((a, b) => (a.app + a.from < b.app + b.from ? -1 : 1));
}

/** A client or subscription that pins or uses a version that ends soon. */
export interface EndingUse {
  /** The client, or the global identifier of a subscription or listener. */
  id: string;
  account: string;
  /** `lender@2026-11-01` or `referral.created@2026-11-01`. */
  version: string;
  sunsetOn: string;
  isPinned: boolean;
  /** `YYYY-MM-DD`. Null for events, and for a version that the client has not used in the last 400 days. */
  lastUsedOn: string | null;
}

/** Who pins or uses the versions whose sunset is until a day, `YYYY-MM-DD`. Retired ones too. */
export async function listEndingUse({ store, gidNamespace }: ActionContext, until: string): Promise<EndingUse[]> {
  return endingUseOf(await selectVersionUse(store, gidNamespace), endingVersions(until));
}

/** @param sunsets the day of each version that ends */
export function endingUseOf({ pins, uses }: VersionUse, sunsets: ReadonlyMap<string, string>): EndingUse[] {
  const found = new Map<string, EndingUse>();
  function add(id: string, version: string, use: Pick<EndingUse, 'account' | 'isPinned' | 'lastUsedOn'>): void {
    const sunsetOn = sunsets.get(version);
    if (sunsetOn !== undefined) found.set(`${id} ${version}`, { id, version, sunsetOn, ...use });
  }
  for (const { id, account, event, ...pin } of pins)
    add(id, event ?? `${pin.interface}@${pin.version}`, { account, isPinned: true, lastUsedOn: null });
  for (const { client, account, coordinate, lastDay, ...use } of uses) {
    const version = `${use.interface}@${use.version}`;
    const isPinned = found.get(`${client} ${version}`)?.isPinned === true;
    if (coordinate === null) add(client, version, { account, isPinned, lastUsedOn: lastDay });
  }
  return [...found.values()].toSorted((a, b) => (a.sunsetOn + a.id < b.sunsetOn + b.id ? -1 : 1));
}

/** The days of the sunsets, by version. */
function endingVersions(until: string): ReadonlyMap<string, string> {
  const sources = [
    { name: 'lender', versions: lenderVersions },
    { name: 'partner', versions: partnerVersions },
    ...webhookEventTypes.map(({ type, versions }) => ({ name: type, versions })),
  ];
  return new Map(
    sources.flatMap(({ name, versions }) =>
      versions.flatMap(({ version, sunsetOn }): [string, string][] =>
        sunsetOn !== null && sunsetOn <= until ? [[`${name}@${version}`, sunsetOn]] : [],
      ),
    ),
  );
}
