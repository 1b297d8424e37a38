import type { Evidence } from './environment.ts';
import type { Build } from './generated/files.ts';
import type { FitOf } from './snapshot-fit.ts';

/** The reasons for an answer, which an exception names, and the answer. */
const answers = {
  'deploy/appNotLive': 'unknown',
  'deploy/appUnknown': 'unknown',
  'deploy/buildUnknown': 'unknown',
  'deploy/consumerBroken': 'no',
  'deploy/contractUnpublished': 'unknown',
  'deploy/environmentUnusable': 'unknown',
  'deploy/migrationMissing': 'no',
  'deploy/migrationTooLate': 'no',
  'deploy/queueTooLong': 'unknown',
  'deploy/rollbackUnknown': 'unknown',
  'deploy/snapshotInsufficient': 'no',
  'deploy/snapshotNotCompared': 'unknown',
  'deploy/typeUnknown': 'no',
  'deploy/usedContractBroken': 'no',
  'deploy/useNotCounted': 'unknown',
  'deploy/versionNotRendered': 'no',
  'retire/deprecatedTooShort': 'no',
  'retire/notServed': 'unknown',
  'retire/pinned': 'no',
  'retire/queued': 'no',
  'retire/used': 'no',
  'retire/useNotCounted': 'unknown',
} as const;

type Reason = keyof typeof answers;

/** Whether an exception is about an answer, not about a change of a contract. */
export function isReason(rule: string): boolean {
  return Object.hasOwn(answers, rule);
}

/** Why the answer is not yes. The members of an exception have the same names. */
export interface Finding {
  readonly answer: 'no' | 'unknown';
  readonly rule: Reason;
  /** What the question is about: `customer-api@0.5.0`, a consumer, or a version. */
  readonly package: string;
  /** The environment. */
  readonly file: string;
  /** What it does not fit, and the contract: `webhook-worker@0.4.1 order.archived`. */
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
  readonly environment: Evidence;
  /** The builds that have to fit. */
  readonly parties: readonly Party[];
  /** Those that are asked about, and all that the environment has stored. */
  readonly known: readonly Build[];
  readonly unusedForMs: number;
  readonly maxGapMs: number;
  readonly found: ReturnType<typeof finder>;
  readonly fitOf: FitOf;
  /** Gaps in the counts of use that are short enough. */
  readonly gaps: Set<string>;
}

/** Returns a function that adds a finding about a subject, unless it is among them. */
export function finder(findings: Finding[], file: string, subject: string) {
  return (rule: Reason, coordinate: string, message: string, first = ''): void => {
    const isSame = (each: Finding): boolean =>
      each.rule === rule && each.package === subject && each.coordinate === coordinate;
    if (!findings.some(isSame))
      findings.push({ answer: answers[rule], rule, package: subject, file, coordinate, message, first });
  };
}

/** What the contracts of an app can have. Undefined for an app that may have everything. */
export function rightsOf({ environment: { apps = [] } }: Pick<Question, 'environment'>, app: string) {
  return apps.find((each) => each.app === app);
}

export function nameOf({ app, version }: Pick<Build, 'app' | 'version'>): string {
  return `${app} ${version}`;
}

export function idOf({ app, version }: Pick<Build, 'app' | 'version'>): string {
  return `${app}@${version}`;
}
