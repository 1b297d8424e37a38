import { join } from 'node:path';
import { type PayloadSchema, withoutNull } from '@deedwire/core/payload-fields';
import { readRecords, releasedStatus } from '@deedwire/release';
import { contractFolderOf } from '../event-versions.ts';
import { filesBelow, workspaceRoot } from '../workspace-files.ts';
import type { EventVersion } from './event-types.ts';

/** The names of derived fixtures. Give a fixture that you write by hand another name. */
const derivedName = new RegExp(
  `^(?:(?:${[
    'missing|null|wrong-type|other-value|gid-of-another-type|other-pattern|other-format|fraction',
    'impossible-day|with-offset|without-milliseconds|another|in',
    'too-short|too-long|shortest|longest|too-few|too-many|fewest|most|too-small|too-large|smallest|largest',
  ].join('|')})-.+|typical|not-an-object|other-namespace)\\.json$`,
);

interface Field {
  /** The names of members. An item of an array has the name 0. */
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

  add('accept/typical', typical);
  add('reject/not-an-object', [typical]);
  add('accept/other-namespace', change(typical, ['id'], 'gid://acme-2/WebhookEvent/1'));
  add('other-event/another-type', change(typical, ['type'], 'record.unknown'));
  add('other-event/another-version', change(typical, ['version'], dayAfter(date)));
  add('unknown-field/in-body', { ...typical, addedLater: true });

  const short = withFewItems(typical, schema);
  for (const { path, schema: field, isRequired, isNullable } of fieldsOf(schema, typical)) {
    const isItem = path.at(-1) === item;
    const name = nameOf(path);
    const value = valueAt(typical, path);
    const set = (replacement: unknown): unknown => change(path.includes(item) ? short : typical, path, replacement);
    if (!isItem) add(`${isRequired ? 'reject' : 'accept'}/missing-${name}`, set(undefined));
    add(`${isNullable ? 'accept' : 'reject'}/null-${name}`, set(null));
    add(`reject/wrong-type-${name}`, set(wrongTypeOf(value)));
    // Another type or version is another event.
    const others = path.length > 1 ? valuesBeside(field, value) : [];
    for (const other of others) add(`reject/other-value-${name}`, set(other));
    if (field.pattern !== undefined) {
      const [kind, other] = beside(field.pattern, String(value), path);
      add(`reject/${kind}-${name}`, set(other));
    }
    if (field.format === 'date-time') {
      const time = String(value);
      add(`reject/impossible-day-${name}`, set('2026-02-30T09:30:00.000Z'));
      add(`loose-time/with-offset-${name}`, set(time.replace(/Z$/, '+01:00')));
      add(`loose-time/without-milliseconds-${name}`, set(time.replace(/\.\d{3}/, '')));
    } else if (field.format !== undefined) add(`reject/other-format-${name}`, set(String(value).replace(/^./, 'x')));
    for (const [kind, limit] of limitsOf(field, value)) add(`${kind}-${name}`, set(limit));
    if (field.properties !== undefined)
      add(`unknown-field/${isItem ? '' : 'in-'}${name}`, set({ ...Object(value), addedLater: 'x' }));
  }
  return fixtures;
}

/** In the path of a field: the first item of an array. */
const item = '0';

/** For example `data-lines-quantity`, and `in-data-lines` of an item. */
function nameOf(path: readonly string[]): string {
  const names = path.filter((name) => name !== item).map(kebabCase);
  return `${path.at(-1) === item ? 'in-' : ''}${names.join('-')}`;
}

function wrongTypeOf(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  return isRecord(value) ? [value] : 42;
}

/** A value of the same type that a `const` or an `enum` does not list. Empty if it lists all. */
function valuesBeside({ const: constant, enum: values }: PayloadSchema, typical: unknown): unknown[] {
  const listed = constant === undefined ? values : [constant];
  if (listed === undefined) return [];
  if (typeof typical === 'number') return [Math.max(...listed.map(Number)) + 1];
  if (typeof typical === 'boolean') return [true, false].filter((value) => !listed.includes(value));
  return ['another value'];
}

/** A text that a pattern does not match. */
function beside(pattern: string, typical: string, path: readonly string[]): [kind: string, text: string] {
  if (pattern.startsWith('^gid:')) return ['gid-of-another-type', 'gid://service/Organization/1'];
  const expected = new RegExp(pattern, 'u');
  const other = [`${typical}!`, `!${typical}`, '', '\n'].find((text) => !expected.test(text));
  if (other === undefined)
    throw new Error(
      `${path.join('.')}: no text was found that ${pattern} does not match. Begin it with ^ and end it with $.`,
    );
  return ['other-pattern', other];
}

/** The values at the limits of a field, which receivers accept, and those behind them, by folder and kind. */
function limitsOf(field: PayloadSchema, typical: unknown): [kind: string, value: unknown][] {
  const limits: [kind: string, value: unknown][] = [];
  if (typeof typical === 'string') {
    const { minLength, maxLength } = field;
    const typicalCharacters = [...typical];
    // Without a pattern, of characters that have two UTF-16 units each.
    const ofLength = (length: number): string =>
      field.pattern === undefined
        ? '🏡'.repeat(length)
        : [...typicalCharacters, ...Array.from({ length }, () => typicalCharacters.at(-1))].slice(0, length).join('');
    if (minLength !== undefined && minLength > 0) limits.push(['reject/too-short', ofLength(minLength - 1)]);
    if (maxLength !== undefined) limits.push(['reject/too-long', ofLength(maxLength + 1)]);
    if (minLength !== undefined && field.pattern === undefined) limits.push(['accept/shortest', ofLength(minLength)]);
    if (maxLength !== undefined && field.pattern === undefined) limits.push(['accept/longest', ofLength(maxLength)]);
  }
  if (Array.isArray(typical)) {
    const { minItems, maxItems } = field;
    const ofLength = (length: number): unknown[] =>
      Array.from({ length }, (_, index) => typical[index % typical.length]);
    if (minItems !== undefined && minItems > 0) limits.push(['reject/too-few', ofLength(minItems - 1)]);
    if (maxItems !== undefined) limits.push(['reject/too-many', ofLength(maxItems + 1)]);
    if (minItems !== undefined) limits.push(['accept/fewest', ofLength(minItems)]);
    if (maxItems !== undefined) limits.push(['accept/most', ofLength(maxItems)]);
  }
  if (typeof typical === 'number') {
    const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = field;
    const isLower = minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER;
    const isUpper = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
    if (isLower) limits.push(['reject/too-small', minimum - 1], ['accept/smallest', minimum]);
    if (exclusiveMinimum !== undefined) limits.push(['reject/too-small', exclusiveMinimum]);
    if (isUpper) limits.push(['reject/too-large', maximum + 1], ['accept/largest', maximum]);
    if (exclusiveMaximum !== undefined) limits.push(['reject/too-large', exclusiveMaximum]);
    if ([field.type].flat().includes('integer')) limits.push(['reject/fraction', typical + 0.5]);
  }
  return limits;
}

/** Every field of a body. A field comes before the fields inside it. */
function fieldsOf(schema: PayloadSchema, typical: object, parent: readonly string[] = []): Field[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const isRequired = schema.required?.includes(name) === true;
    return fieldAt(property, typical, [...parent, name], isRequired);
  });
  return schema.items === undefined ? members : fieldAt(schema.items, typical, [...parent, item], true);
}

function fieldAt(property: PayloadSchema, typical: object, path: readonly string[], isRequired: boolean): Field[] {
  const { isNullable, ...field } = withoutNull(property);
  const name = path.join('.');
  if (field.anyOf !== undefined)
    throw new Error(`${name}: no fixture can be derived from alternatives. Use one type, which can be nullable.`);
  const types = [field.type ?? []].flat();
  if (!['string', 'object', 'integer', 'number', 'boolean', 'array'].some((type) => types.includes(type)))
    throw new Error(`${name}: no fixture can be derived from the type ${types.join(', ')}.`);
  const typicalValue = valueAt(typical, path);
  if (typicalValue === undefined || typicalValue === null)
    throw new Error(`${name}: the sample of the event has no value. Write one, so that fixtures can be derived.`);
  return [{ path, schema: field, isRequired, isNullable }, ...fieldsOf(field, typical, path)];
}

/** A body with as few items in each array as its schema allows, and at least one. */
function withFewItems(body: unknown, schema: PayloadSchema): unknown {
  const { properties = {}, items, minItems = 1 } = withoutNull(schema);
  if (Array.isArray(body)) return body.slice(0, Math.max(1, minItems)).map((each) => withFewItems(each, items ?? {}));
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, withFewItems(value, properties[name] ?? {})]),
  );
}

function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isContainer(value) ? value[name] : undefined), body);
}

/** A copy with another value at the path, or without the field if the value is undefined. */
function change(body: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (!isContainer(body)) throw new Error(`The typical body has no object above ${path.join('.')}.`);
  const changed = change(body[name], rest, value);
  const entries = Object.entries(body).map(([key, old]) => [key, key === name ? changed : old] as const);
  const kept = entries.filter(([, each]) => each !== undefined);
  return Array.isArray(body) ? kept.map(([, each]) => each) : Object.fromEntries(kept);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function dayAfter(date: string): string {
  return new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);
}

/**
 * The derived fixtures of one version, and the files in its folder that have the name of a derived fixture and are not one.
 * Paths are relative to the workspace.
 *
 * @param payloads the package of payloads of the service
 * @throws {Error} if the typical body does not match the schema. The message names the file and the field.
 */
export function derivedFixturesOf(payloads: string, type: string, { version, body, schema, typical }: EventVersion) {
  const source = contractFolderOf(payloads, type);
  const folder = `${source}/fixtures/${type}/${version}`;
  const problems = body.safeParse(typical).error?.issues ?? [];
  if (problems.length > 0) {
    const fields = problems.map(({ path, message }) => `  ${path.join('.') || 'body'}: ${message}\n`);
    throw new Error(
      `${source}/src/${type}/${version}.ts does not match the sample of the event, as its renderer renders it. Change one of them:\n${fields.join('')}`,
    );
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
 *
 * @param payloads the package of payloads whose releases count
 */
export function areFixturesFrozen(payloads: string, type: string, version: string): boolean {
  const status = releasedStatus(readRecords(join(workspaceRoot, payloads)), `${type}/${version}`);
  return status !== null && status !== 'preview';
}
