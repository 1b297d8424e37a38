import { statSync } from 'node:fs';
import { failAt, withinStack } from '../input-error.ts';
import type { JsonValue } from '../json/json-value.ts';
import { validatorOf, type Validate } from '../json/validator.ts';
import { readSourceText, sha256Of } from '../text-file.ts';
import type { Build, Environment, Uses } from './generated/files.ts';

const lists = ['expectedApps', 'processes', 'contracts', 'pins', 'queued', 'uses', 'counting', 'gaps'] as const;

const maxBytes = 64 * 1024 * 1024;
/** The clocks of the database and of this machine differ. */
const maxSkewMs = 60_000;

const schema = 'environment.schema.json';
export const readBuild = reader(validatorOf<Build>(schema, 'build'));
export const readUses = reader(validatorOf<Uses>(schema, 'uses'));
const readExport = reader(validatorOf<Environment>(schema, 'environment'));

/**
 * @param name that it must have. Undefined for any
 * @throws {InputError} when the file cannot be evidence: it is absent, incomplete, changed, old, or of another environment.
 */
export function readEnvironment(file: string, name: string | undefined, maxAgeMs: number, now: Date): Environment {
  const environment = readExport(file);
  const { digest, ...signed } = environment;
  if (sha256Of(JSON.stringify(signed)) !== digest) failAt(file, 'has another digest than it states');
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
}

/** Reads a file without lines: no person writes it. */
function reader<T>(validate: Validate<T>) {
  return (file: string): T => {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > maxBytes) failAt(file, `has ${bytes} bytes, but at most ${maxBytes} are read`);
    const { text } = readSourceText(file);
    let value: JsonValue;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      failAt(file, 'is not JSON, or is truncated', { cause });
    }
    return withinStack(file, () => validate({ file, value, lineOf: () => null }, value));
  };
}

/** `40 s`, `4 min`, `3 h`, `90 d` */
export function span(ms: number): string {
  const units = { d: 86_400_000, h: 3_600_000, min: 60_000 };
  const [name, size] = Object.entries(units).find(([, each]) => ms >= each) ?? ['s', 1000];
  return `${Math.max(0, Math.floor(ms / size))} ${name}`;
}
