import { statSync } from 'node:fs';
import { failAt, ifValid, withinStack } from '../input-error.ts';
import { isJsonObject, type JsonValue } from '../json/json-value.ts';
import { validatorOf, type Validate } from '../json/validator.ts';
import { remembered } from '../remembered.ts';
import { readSourceText, sha256Of } from '../text-file.ts';
import type { Build, Environment, Uses } from './generated/files.ts';

/** An environment whose builds were read one by one. */
export interface Evidence extends Omit<Environment, 'contracts' | 'counting'> {
  /** By digest. */
  readonly builds: ReadonlyMap<string, Build>;
  /** By digest: why contracts are not those of a build. */
  readonly invalid: ReadonlyMap<string, string>;
  readonly counting: readonly CountedPeriod[];
}

interface CountedPeriod extends Omit<Environment['counting'][number], 'coordinates'> {
  /** The deprecated ones: `2026-11-01 Query.old`. */
  readonly coordinates: ReadonlySet<string>;
}

const maxBytes = 64 * 1024 * 1024;
/** The clocks of the database and of this machine differ. */
const maxSkewMs = 60_000;

const schema = 'environment.schema.json';
const validateBuild = validatorOf<Build>(schema, 'build');
const validateEnvironment = validatorOf<Environment>(schema, 'environment');
export const readBuild = reader(validateBuild);
export const readUses = reader(validatorOf<Uses>(schema, 'uses'));

/**
 * @param name that it must have. Undefined for any
 * @throws {InputError} when the file cannot be evidence: it is absent, incomplete, changed, old, or of another environment.
 */
export function readEnvironment(file: string, name: string | undefined, maxAgeMs: number, now: Date): Evidence {
  const value = readJson(file);
  const { digest, ...signed } = isJsonObject(value) ? value : {};
  const contracts = signed['contracts'];
  // Apps write the contracts, so that each is validated by itself.
  const outer = isJsonObject(value) && isJsonObject(contracts) ? { ...value, contracts: emptied(contracts) } : value;
  const environment = withinStack(file, () => validateEnvironment(documentOf(file, outer), outer));
  if (withinStack(file, () => sha256Of(JSON.stringify(signed))) !== digest)
    failAt(file, 'has another digest than it states');
  for (const [list, count] of Object.entries(environment.rowCounts))
    if (Object.keys(Object(Reflect.get(environment, list))).length !== count)
      failAt(file, `has another number of ${list} than it states`);
  if (name !== undefined && name !== environment.environment)
    failAt(file, `is of the environment ${environment.environment}, not of ${name}`);
  const ageMs = now.getTime() - Date.parse(environment.takenAt);
  if (ageMs < -maxSkewMs) failAt(file, `is from the future: it was taken at ${environment.takenAt}`);
  if (ageMs > maxAgeMs) failAt(file, `was taken ${span(ageMs)} ago, but --max-age is ${span(maxAgeMs)}`);
  return {
    ...environment,
    ...buildsOf(environment, isJsonObject(contracts) ? contracts : {}),
    counting: periodsOf(environment),
  };
}

function emptied(contracts: object): JsonValue {
  return Object.fromEntries(Object.keys(contracts).map((digest) => [digest, {}]));
}

function buildsOf({ apps = [] }: Environment, contracts: Readonly<Record<string, JsonValue>>) {
  const [builds, invalid] = [new Map<string, Build>(), new Map<string, string>()];
  for (const [digest, value] of Object.entries(contracts)) {
    const build = ifValid(
      () => buildOf(digest, value, apps),
      ({ message }) => {
        invalid.set(digest, message);
        return null;
      },
    );
    if (build !== null) builds.set(digest, build);
  }
  return { builds, invalid };
}

function buildOf(digest: string, value: JsonValue, apps: NonNullable<Environment['apps']>): Build {
  const build = withinStack(digest, () => validateBuild(documentOf(digest, value), value));
  if (sha256Of(`${JSON.stringify(value, null, 2)}\n`) !== digest) failAt(digest, 'the contracts have another digest');
  const may = apps.find(({ app }) => app === build.app);
  if (may === undefined) return build;
  if (!may.renders && build.renders.length > 0)
    failAt(digest, `/renders must be empty: ${build.app} renders no events`);
  const foreign = build.serves.find((each) => each.interface !== may.interface || each.package !== may.package);
  if (foreign !== undefined)
    failAt(
      digest,
      `/serves must not contain ${foreign.interface} of ${foreign.package}: ${build.app} does not serve it`,
    );
  return build;
}

/** Reads each set once: many periods share it. */
function periodsOf({ counting, coordinateSets }: Environment): CountedPeriod[] {
  const texts = coordinateSets && new Map(Object.entries(coordinateSets));
  const setOf = remembered((key: string) => new Set((texts ? (texts.get(key) ?? '') : key).split('\n')));
  return counting.map((period) => ({ ...period, coordinates: setOf(period.coordinates) }));
}

function reader<T>(validate: Validate<T>) {
  return (file: string): T => {
    const value = readJson(file);
    return withinStack(file, () => validate(documentOf(file, value), value));
  };
}

/** A file without lines: no person writes it. */
function documentOf(file: string, value: JsonValue) {
  return { file, value, lineOf: () => null };
}

function readJson(file: string): JsonValue {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > maxBytes) failAt(file, `has ${bytes} bytes, but at most ${maxBytes} are read`);
  const { text } = readSourceText(file);
  try {
    return JSON.parse(text);
  } catch (cause) {
    failAt(file, 'is not JSON, or is truncated', { cause });
  }
}

/** `40 s`, `4 min`, `3 h`, `90 d` */
export function span(ms: number): string {
  const units = { d: 86_400_000, h: 3_600_000, min: 60_000 };
  const [name, size] = Object.entries(units).find(([, each]) => ms >= each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}
