import { join } from 'node:path';
import { readRecords, releasedStatus } from '@deedwire/release';
import { contractFolderOf, eventsFolder, typicalBodyPath } from '../event-versions.ts';
import { type PayloadSchema, withoutNull } from '../reference/event-page/payload-fields.ts';
import { fileExists, filesBelow, readText, workspaceRoot } from '../workspace-files.ts';
import type { EventVersion } from './event-types.ts';

/** The names of derived fixtures. Give a fixture that you write by hand another name. */
const derivedName =
  /^(?:(?:missing|null|wrong-type|other-value|gid-of-another-type|impossible-day|with-offset|without-milliseconds|another|in)-.+|not-an-object|other-namespace)\.json$/;

interface Field {
  readonly path: readonly string[];
  readonly schema: PayloadSchema;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

/**
 * Derives fixtures from a typical body and its JSON Schema, by path below the folder of the version: what receivers accept
 * and reject, one change each.
 *
 * @throws {Error} if a field has a shape from which no fixture can be derived. The message names the field.
 */
export function deriveFixtures(schema: PayloadSchema, typical: object): Map<string, unknown> {
  const fixtures = new Map<string, unknown>();
  const date = String(valueAt(typical, ['version']));
  const add = (path: string, body: unknown): void => void fixtures.set(`${path}.json`, body);
  const set = (path: readonly string[], value: unknown): unknown => change(typical, path, value);

  add('reject/not-an-object', [typical]);
  add('accept/other-namespace', set(['id'], 'gid://acme-2/WebhookEvent/1'));
  add('other-event/another-type', set(['type'], 'referral.unknown'));
  add('other-event/another-version', set(['version'], dayAfter(date)));
  add('unknown-field/in-body', { ...typical, addedLater: true });

  for (const { path, schema: field, isRequired, isNullable } of fieldsOf(schema, typical)) {
    const name = path.map(kebabCase).join('-');
    const value = valueAt(typical, path);
    add(`${isRequired ? 'reject' : 'accept'}/missing-${name}`, set(path, undefined));
    add(`${isNullable ? 'accept' : 'reject'}/null-${name}`, set(path, null));
    add(`reject/wrong-type-${name}`, set(path, wrongTypeOf(value)));
    if (field.const !== undefined && path.length > 1) add(`reject/other-value-${name}`, set(path, 'another value'));
    if (field.pattern !== undefined)
      add(`reject/gid-of-another-type-${name}`, set(path, 'gid://service/Organization/1'));
    if (field.format === 'date-time') {
      const time = String(value);
      add(`reject/impossible-day-${name}`, set(path, '2026-02-30T09:30:00.000Z'));
      add(`loose-time/with-offset-${name}`, set(path, time.replace(/Z$/, '+01:00')));
      add(`loose-time/without-milliseconds-${name}`, set(path, time.replace(/\.\d{3}/, '')));
    }
    if (field.items !== undefined) add(`reject/wrong-type-in-${name}`, set(path, [42]));
    if (field.properties !== undefined)
      add(`unknown-field/in-${name}`, set(path, { ...Object(value), addedLater: 'x' }));
  }
  return fixtures;
}

function wrongTypeOf(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  return isRecord(value) ? [value] : 42;
}

/** Every field of a body. A field comes before the fields inside it. */
function fieldsOf(schema: PayloadSchema, typical: object, parent: readonly string[] = []): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = [...parent, name];
    const { isNullable, ...field } = withoutNull(property);
    if (field.anyOf !== undefined)
      throw new Error(
        `${path.join('.')}: no fixture can be derived from alternatives. Use one type, which can be nullable.`,
      );
    const types = [field.type ?? []].flat();
    if (!['string', 'object', 'integer', 'array'].some((type) => types.includes(type)))
      throw new Error(`${path.join('.')}: no fixture can be derived from the type ${types.join(', ')}.`);
    const typicalValue = valueAt(typical, path);
    if (typicalValue === undefined || typicalValue === null)
      throw new Error(`${path.join('.')}: the typical body has no value. Write one, so that fixtures can be derived.`);
    const isRequired = schema.required?.includes(name) === true;
    return [{ path, schema: field, isRequired, isNullable }, ...fieldsOf(field, typical, path)];
  });
}

function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), body);
}

/** A copy with another value at the path, or without the field if the value is undefined. */
function change(body: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (!isRecord(body)) throw new Error(`The typical body has no object above ${path.join('.')}.`);
  const changed = change(body[name], rest, value);
  const fields = Object.entries(body).map(([key, old]) => [key, key === name ? changed : old] as const);
  return Object.fromEntries(fields.filter(([, kept]) => kept !== undefined));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function dayAfter(date: string): string {
  return new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
}

/**
 * The derived fixtures of one version, and the files in its folder that have the name of a derived fixture and are not one.
 * Paths are relative to the workspace.
 *
 * @throws {Error} if the typical body is missing or does not match the schema. The message names the file and the field.
 */
export function derivedFixturesOf(type: string, { version, body, schema }: EventVersion) {
  const folder = `${contractFolderOf(type)}/fixtures/${type}/${version}`;
  const file = typicalBodyPath(type, version);
  if (!fileExists(file)) throw new Error(`${file} is missing. Write a typical body.`);
  const typical = JSON.parse(readText(file));
  const problems = body.safeParse(typical).error?.issues ?? [];
  if (problems.length > 0) {
    const fields = problems.map(({ path, message }) => `  ${path.join('.') || 'body'}: ${message}\n`);
    throw new Error(`${file} does not match src/${type}/${version}.ts. Change one of them:\n${fields.join('')}`);
  }
  const fixtures = new Map<string, unknown>();
  try {
    for (const [path, fixture] of deriveFixtures(schema, typical)) fixtures.set(`${folder}/${path}`, fixture);
  } catch (error) {
    throw new Error(`${type} at ${version}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const stale = filesBelow(folder).filter((path) => derivedName.test(path.replace(/.*\//, '')) && !fixtures.has(path));
  return { fixtures, stale };
}

/**
 * Whether the fixtures of a version are golden files. They are from its first release as `current`: from then on, `pnpm
 * generate` leaves them alone, so that they show what receivers rely on. Write those of an added field by hand.
 */
export function areFixturesFrozen(type: string, version: string): boolean {
  const status = releasedStatus(readRecords(join(workspaceRoot, eventsFolder)), `${type}/${version}`);
  return status !== null && status !== 'preview';
}
