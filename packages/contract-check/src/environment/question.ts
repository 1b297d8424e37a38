import { readGraphqlSchema } from '../graphql/read-contract.ts';
import { ifValid } from '../input-error.ts';
import type { Build, Environment } from './environment.ts';
import { span } from './environment.ts';

/** The ids of the reasons for an answer. An exception names one. */
export const reasons = [
  'deploy/appNotLive',
  'deploy/appUnknown',
  'deploy/buildUnknown',
  'deploy/consumerBroken',
  'deploy/contractUnpublished',
  'deploy/environmentUnusable',
  'deploy/migrationMissing',
  'deploy/migrationTooLate',
  'deploy/queueTooLong',
  'deploy/rollbackUnknown',
  'deploy/snapshotInsufficient',
  'deploy/typeUnknown',
  'deploy/usedContractBroken',
  'deploy/useNotCounted',
  'deploy/versionNotRendered',
  'retire/deprecatedTooShort',
  'retire/notServed',
  'retire/pinned',
  'retire/queued',
  'retire/used',
  'retire/useNotCounted',
] as const;

export type Reason = (typeof reasons)[number];

/** Whether an exception is about an answer, not about a change of a contract. */
export function isReason(rule: string): boolean {
  return reasons.some((reason) => reason === rule);
}

/** Why the answer is not yes. The members of an exception have the same names. */
export interface Finding {
  readonly answer: 'no' | 'unknown';
  readonly rule: Reason;
  /** What the question is about: `partner-api@0.5.0`, a consumer, or a version. */
  readonly package: string;
  /** The environment. */
  readonly file: string;
  /** What it does not fit, and the contract: `webhook-worker@0.4.1 referral.archived`. */
  readonly coordinate: string;
  readonly message: string;
  /** What to do before the question is asked again. Empty if nothing helps but to wait. */
  readonly first: string;
}

/** A build in an environment, or one that the question is about. */
export interface Party {
  readonly build: Build;
  /** `webhook-worker 0.4.1 (production, seen 40 s ago)` */
  readonly label: string;
  readonly isLive: boolean;
}

export interface Question {
  readonly environment: Environment;
  /** The live builds, and those of a rollback. */
  readonly parties: readonly Party[];
  /** Those that are asked about, and all that the environment has stored. */
  readonly known: readonly Build[];
  readonly unusedForMs: number;
  /** The first day on which a use counts. */
  readonly oldestDay: string;
  readonly maxGapMs: number;
  readonly findings: Finding[];
  /** Gaps that are short enough. */
  readonly gaps: Set<string>;
}

type Found = ReturnType<typeof foundFor>;

/** Adds a finding about a subject. */
export function foundFor({ findings, environment }: Question, subject: string) {
  return (answer: Finding['answer'], rule: Reason, coordinate: string, message: string, first = ''): void => {
    const finding = { answer, rule, package: subject, file: environment.environment, coordinate, message, first };
    if (!findings.some((each) => keyOf(each) === keyOf(finding))) findings.push(finding);
  };
}

function keyOf({ answer, rule, package: subject, coordinate }: Finding): string {
  return [answer, rule, subject, coordinate].join('\n');
}

export function nameOf({ app, version }: Pick<Build, 'app' | 'version'>): string {
  return `${app} ${version}`;
}

export function idOf({ app, version }: Pick<Build, 'app' | 'version'>): string {
  return `${app}@${version}`;
}

/** Whether the schemas of a build can be compared. */
export function isReadable({ serves }: Build): boolean {
  return serves.every(({ file, sdl }) => ifValid(() => readGraphqlSchema([{ file, text: sdl }])) !== null);
}

/** The live builds. Reports each process without one, and each expected app without a process. */
export function liveBuilds(environment: Environment, found: Found, now: Date): Party[] {
  const { processes, contracts, expectedApps, environment: place } = environment;
  for (const app of expectedApps)
    if (!processes.some((process) => process.app === app))
      found('unknown', 'deploy/appNotLive', app, `${app} has no live process in ${place}.`, `Start ${app} first.`);
  const groups = Map.groupBy(processes, (process) => `${idOf(process)} ${process.digest}`);
  return [...groups.values()].flatMap((same): Party[] => {
    const [process, ...others] = same.toSorted((a, b) => Date.parse(b.lastSeenAt) - Date.parse(a.lastSeenAt));
    if (process === undefined) return [];
    const { digest, lastSeenAt } = process;
    const build = digest === null ? undefined : contracts[digest];
    const count = others.length === 0 ? '' : `${others.length + 1} instances, `;
    const age = span(now.getTime() - Date.parse(lastSeenAt));
    const label = `${nameOf(process)} (${place}, ${count}seen ${age} ago)`;
    // A member of every object is no build of this process.
    const isOwn = build !== undefined && idOf(build) === idOf(process);
    if (isOwn && isReadable(build)) return [{ build, label, isLive: true }];
    const why = `has the build ${digest}, whose contracts are ${isOwn ? 'invalid' : 'missing'}`;
    const message = `${label} ${digest === null ? 'did not register its build' : why}.`;
    found('unknown', 'deploy/buildUnknown', idOf(process), message, 'Replace it by a release that registers.');
    return [];
  });
}
