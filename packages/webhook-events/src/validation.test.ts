import { deepStrictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findEventVersion } from './event-types.ts';
import { parseWebhookBody, type WebhookBody } from './parse-webhook-body.ts';

const fixtures = ['../fixtures', '../../webhook-contract/fixtures']
  .flatMap((path) => readdirSync(join(import.meta.dirname, path), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));

/** What `parseWebhookBody` has to return, computed with the exported zod schemas. */
function parseWithZod(rawBody: string): WebhookBody {
  const json: unknown = JSON.parse(rawBody);
  const handshake = z.strictObject({ verification_token: z.string() }).safeParse(json);
  if (handshake.success) return { kind: 'verification', verificationToken: handshake.data.verification_token };
  const text = z.string();
  const envelope = z.object({ id: text, type: text, version: text, timestamp: text, data: z.looseObject({}) });
  const opened = envelope.safeParse(json);
  if (!opened.success) return malformed(opened.error);
  const body = findEventVersion(opened.data.type, opened.data.version)?.body;
  if (body === undefined) return { kind: 'unknown_event', event: opened.data };
  const event = body.safeParse(json);
  return event.success ? { kind: 'event', event: event.data } : malformed(event.error);
}

function malformed({ issues }: z.ZodError): WebhookBody {
  return {
    kind: 'malformed',
    problems: issues.map(({ path, message }) => `${path.length === 0 ? 'body' : path.join('.')}: ${message}`),
  };
}

/** The result without what zod adds about a value that it has rejected already, such as the length of an array in place of a text. */
function withoutRepeated(body: WebhookBody): WebhookBody {
  if (body.kind !== 'malformed') return body;
  const paths = body.problems.map((text) => text.replace(/:.*/s, ''));
  return { ...body, problems: body.problems.filter((_, index) => paths.indexOf(paths[index] ?? '') === index) };
}

/** Also compares the order of the fields. */
function expectEqualResults(rawBody: string): WebhookBody {
  const result = withoutRepeated(parseWebhookBody(rawBody));
  const expected = withoutRepeated(parseWithZod(rawBody));
  // Unlike `toStrictEqual`, it accepts a field named `constructor`.
  deepStrictEqual(result, expected);
  expect(JSON.stringify(result)).toBe(JSON.stringify(expected));
  return result;
}

/** Replacements of a part of a body, as JSON text. */
const anyPart = fc.oneof(
  fc.json(),
  fc.constantFrom('null', 'true', '0', '1e999', '-1e999', '""', '[]', '{}', '{"__proto__":{"a":1}}', '{"length":1}'),
  fc
    .constantFrom(
      'gid://service/Referral/1',
      'gid://other-1/Matter/99',
      'gid://service/WebhookEvent/0',
      ' gid://service/Lender/1',
      'gid://service/TeamMember/1\n',
      '2026-02-29T00:00:00.000Z',
      '2028-02-29T23:59:59.999Z',
      '2026-11-03T09:30:00Z',
      '2026-11-03T09:30:00.123+00:00',
      '2026-11-03T24:00:00.000Z',
      '2026-11-01',
      '2027-02-01',
      'lender.updated',
      'referral.converted',
    )
    .map((string) => JSON.stringify(string)),
);

const anyName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'verification_token', 'data', 'id', '0', ''),
  fc.string(),
);

interface Mutation {
  /** Selects a part of the body: an index, modulo the number of its parts. */
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly name: string;
  readonly part: string;
}

const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(40),
  how: fc.constantFrom('replace', 'remove', 'add'),
  name: anyName,
  part: anyPart,
});

/** A part of a body as JSON text, so that `1e999` and a field named `__proto__` survive. */
type Tree = { readonly fields: [name: string, value: Tree][] } | { readonly json: string };

function treeOf(value: unknown): Tree {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { json: JSON.stringify(value) };
  return { fields: Object.entries(value).map(([name, part]) => [name, treeOf(part)]) };
}

function textOf(tree: Tree): string {
  if ('json' in tree) return tree.json;
  return `{${tree.fields.map(([name, part]) => `${JSON.stringify(name)}:${textOf(part)}`).join(',')}}`;
}

function mutate(root: Tree, { at, how, name, part }: Mutation): Tree {
  const places: { fields: [string, Tree][]; index: number }[] = [];
  const visit = (tree: Tree): void => {
    if ('json' in tree) return;
    for (const [index, [, child]] of tree.fields.entries()) {
      places.push({ fields: tree.fields, index });
      visit(child);
    }
  };
  visit(root);
  const place = places[at % (places.length + 1)];
  if (place === undefined) return { json: part };
  const { fields, index } = place;
  if (how === 'replace') fields[index] = [fields[index]?.[0] ?? '', { json: part }];
  else if (how === 'remove') fields.splice(index, 1);
  else fields.push([name, { json: part }]);
  return root;
}

/** A part of a time, often at its limits. */
function timePart(digits: number, max: number): fc.Arbitrary<string> {
  return fc
    .oneof(fc.constantFrom(0, 1, max - 1, max, max + 1), fc.nat(max + 1))
    .map((value) => String(value).padStart(digits, '0'));
}

describe('the generated validators and the exported zod schemas', () => {
  test('return the same for every fixture', () => {
    const kinds = new Set(fixtures.map((text) => expectEqualResults(text).kind));
    expect([...kinds].toSorted()).toEqual(['event', 'malformed', 'unknown_event']);
  });

  test('return the same for mutated fixtures', () => {
    const kinds = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtures),
        fc.array(anyMutation, { minLength: 1, maxLength: 3 }),
        (text, mutations) => {
          const { kind } = expectEqualResults(textOf(mutations.reduce(mutate, treeOf(JSON.parse(text)))));
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        },
      ),
      { numRuns: Number(process.env['RUNS'] ?? 1_000) },
    );
    // The mutations reach each result that a body without a token can have.
    for (const kind of ['event', 'malformed', 'unknown_event']) expect(kinds.get(kind)).toBeGreaterThan(5);
  });

  test('return the same for times', () => {
    const body = fixtures
      .map((text) => JSON.parse(text))
      .find((parsed) => parseWebhookBody(JSON.stringify(parsed)).kind === 'event');
    const time = fc
      .tuple(
        timePart(4, 9_999),
        timePart(2, 12),
        timePart(2, 31),
        timePart(2, 24),
        timePart(2, 60),
        timePart(2, 60),
        timePart(3, 999),
      )
      .map(
        ([year, month, day, hour, minute, second, ms]) => `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
      );
    // One character of a time is replaced, removed or added.
    const changed = fc
      .tuple(
        time,
        fc.nat(24),
        fc.nat(1),
        fc.constantFrom('', '0', '9', '+', '-', 'Z', 'T', 't', 'z', ' ', '.', ',', ':', '\n', '\u0660'),
      )
      .map(([text, at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed));
    const kinds = new Map<string, number>();
    fc.assert(
      fc.property(fc.oneof(time, changed), (timestamp) => {
        const { kind } = expectEqualResults(JSON.stringify({ ...body, timestamp }));
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }),
      { numRuns: Number(process.env['RUNS'] ?? 1_000) },
    );
    for (const kind of ['event', 'malformed']) expect(kinds.get(kind)).toBeGreaterThan(20);
  });

  test('return the same for handshakes and for values of every kind', () => {
    expect(expectEqualResults('{"verification_token":"t0"}').kind).toBe('verification');
    fc.assert(
      fc.property(anyPart, anyName, (part, name) => {
        expectEqualResults(part);
        expectEqualResults(`{"verification_token":${part}}`);
        expectEqualResults(`{"verification_token":"t0",${JSON.stringify(name)}:${part}}`);
      }),
    );
  });
});
