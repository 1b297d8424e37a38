import { statSync } from 'node:fs';
import { failAt, withinStack } from '../input-error.ts';
import type { JsonValue } from '../json/json-value.ts';
import { validatorOf } from '../json/validator.ts';
import { readSourceText, sha256Of } from '../text-file.ts';
import type { Uses } from '../uses/uses.ts';

/** A file of a contract, as builds and `contract-check uses` name it. */
export type ContractFile = Readonly<Record<'package' | 'packageVersion' | 'file' | 'sha256', string>>;

type Lifecycle = Readonly<Record<'deprecatedOn' | 'sunsetOn', string | null>>;

/** What a build can do: `dist/contracts.json`. */
export interface Build {
  readonly app: string;
  readonly version: string;
  /** The last migration that it needs: `0047-portal-sessions`. */
  readonly migration: string;
  readonly serves: readonly (ContractFile & Lifecycle & Readonly<Record<'interface' | 'version' | 'sdl', string>>)[];
  /** The event versions that it accepts as pins, until their sunset. */
  readonly pins: readonly (Partial<ContractFile> & Lifecycle & { readonly event: string })[];
  readonly appends: readonly { readonly type: string; readonly snapshot: object }[];
  /** `needs`: the JSON Schema of the part of a snapshot from which it renders. */
  readonly renders: readonly (Partial<ContractFile> & { readonly event: string; readonly needs: object })[];
}

type Period = Readonly<Record<'app' | 'from' | 'until', string>>;

/** What runs and who uses what, in one snapshot of the database. Times are in UTC. */
export interface Environment {
  readonly environment: string;
  /** By the clock of the database. */
  readonly takenAt: string;
  readonly migration: string;
  /** Builds with an earlier last migration do not start. */
  readonly needsMigration: string | null;
  readonly expectedApps: readonly string[];
  /** Those without a process that runs all the time. */
  readonly otherApps: readonly string[];
  /** The live ones. The digest is null for a build that did not register. */
  readonly processes: readonly (Readonly<Record<'app' | 'version' | 'lastSeenAt', string>> & {
    readonly digest: string | null;
  })[];
  /** By digest: those of live processes, and earlier ones. */
  readonly contracts: Readonly<Record<string, Build>>;
  /** `event` for a subscription, `version` for a client. */
  readonly pins: readonly (Readonly<Record<'id' | 'interface', string>> &
    Readonly<Record<'event' | 'version', string | null>>)[];
  /** `event` is null for what is not fanned out. */
  readonly queued: readonly { readonly type: string; readonly event: string | null; readonly count: number }[];
  /** Whether more waits than `queued` contains. */
  readonly isQueueCut: boolean;
  /** `coordinate` is null for the version as a whole. */
  readonly uses: readonly (Readonly<Record<'client' | 'interface' | 'version' | 'lastDay', string>> & {
    readonly coordinate: string | null;
  })[];
  /** `coordinates`: the deprecated ones that were counted, one a line: `2026-11-01 Query.old`. */
  readonly counting: readonly (Period & { readonly overflowed: boolean; readonly coordinates: string })[];
  readonly gaps: readonly Period[];
  readonly rowCounts: Readonly<Record<List, number>>;
}

const lists = ['expectedApps', 'processes', 'contracts', 'pins', 'queued', 'uses', 'counting', 'gaps'] as const;
type List = (typeof lists)[number];

const maxBytes = 64 * 1024 * 1024;
/** The clocks of the database and of this machine differ. */
const maxSkewMs = 60_000;

const schemaFile = 'environment.schema.json';
const validateEnvironment = validatorOf<Environment & { readonly digest: string }>(schemaFile, 'environment');
const validateBuild = validatorOf<Build>(schemaFile, 'build');
const validateUses = validatorOf<Uses>(schemaFile, 'uses');

/**
 * @param name that it must have. Undefined for any
 * @throws {InputError} when the file cannot be evidence: it is absent, incomplete, changed, old, or of another environment.
 */
export function readEnvironment(file: string, name: string | undefined, maxAgeMs: number, now: Date): Environment {
  return withinStack(file, () => {
    const { digest, ...environment } = validateEnvironment(...documentOf(file));
    if (sha256Of(JSON.stringify(environment)) !== digest) failAt(file, 'has another digest than it states');
    for (const list of lists)
      if (Object.keys(environment[list]).length !== environment.rowCounts[list])
        failAt(file, `has another number of ${list} than it states`);
    for (const [stated, build] of Object.entries(environment.contracts))
      if (sha256Of(`${JSON.stringify(build, null, 2)}\n`) !== stated)
        failAt(file, `the contracts of ${build.app} ${build.version} have another digest than ${stated}`);
    if (name !== undefined && name !== environment.environment)
      failAt(file, `is of the environment ${environment.environment}, not of ${name}`);
    const ageMs = now.getTime() - Date.parse(environment.takenAt);
    if (ageMs < -maxSkewMs) failAt(file, `is from the future: it was taken at ${environment.takenAt}`);
    if (ageMs > maxAgeMs) failAt(file, `was taken ${span(ageMs)} ago, but --max-age is ${span(maxAgeMs)}`);
    return environment;
  });
}

export function readBuild(file: string): Build {
  return withinStack(file, () => validateBuild(...documentOf(file)));
}

export function readUses(file: string): Uses {
  return withinStack(file, () => validateUses(...documentOf(file)));
}

/** Without lines: no person writes these files. */
function documentOf(file: string): [{ file: string; value: JsonValue; lineOf: () => null }, JsonValue] {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > maxBytes) failAt(file, `has ${bytes} bytes, but at most ${maxBytes} are read`);
  const { text } = readSourceText(file);
  try {
    const value: JsonValue = JSON.parse(text);
    return [{ file, value, lineOf: () => null }, value];
  } catch (cause) {
    return failAt(file, 'is not JSON, or is truncated', { cause });
  }
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `40 s`, `4 min`, `3 h`, `90 d` */
export function span(ms: number): string {
  const [name, size] = units.find(([, each]) => ms >= each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}
