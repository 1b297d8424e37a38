import { describeDifference } from '../differences.ts';
import { canonicalJson, type JsonValue } from '../json/json-value.ts';
import type { Comparison, Place, RuleName } from './comparison.ts';
import { innerSchemas, naming } from './keywords.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';

/** The drafts in order. */
const drafts = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const;
type Draft = (typeof drafts)[number];

/** The keywords that each draft added. Drafts define all others from draft 4 on. */
const added: Readonly<Partial<Record<Draft, string>>> = {
  'draft-06': '$id const contains propertyNames',
  'draft-07': 'if then else contentEncoding contentMediaType readOnly writeOnly',
  '2019-09':
    'deprecated $anchor minContains maxContains dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties $recursiveRef $recursiveAnchor',
  '2020-12': '$dynamicRef $dynamicAnchor prefixItems',
};

/** The last draft of keywords that newer drafts do not define with the same meaning. */
const lastDrafts: ReadonlyMap<string, Draft> = new Map([
  ['id', 'draft-04'],
  ['dependencies', 'draft-07'],
  ['additionalItems', '2019-09'],
  ['$recursiveRef', '2019-09'],
  ['$recursiveAnchor', '2019-09'],
]);

/** The rule for a change of `$schema`: by default, of that in the first file. */
export function dialectRule(
  from: SchemaDocument,
  to: SchemaDocument,
  before: JsonValue = from.dialect,
  now: JsonValue = to.dialect,
): RuleName {
  const [one, other] = [draftOf(before), draftOf(now)];
  if (one === null || other === null) return 'identityChanged';
  // Only the notation differs.
  if (one === other) return 'documentationChanged';
  const affected = [from, to].flatMap(({ schemas, dialectOf }) =>
    schemas.filter((schema) => [before, now].includes(dialectOf(schema))),
  );
  return affected.every((schema) => isDefinedIn(schema, [one, other])) ? 'dialectChanged' : 'identityChanged';
}

/** Compares the `$schema` that applies to the schemas at a place, apart from that of the first file, which is compared once. */
export function compareDialects({ from, to, foundDialect }: Comparison, place: Place): void {
  const [before, now] = [new Set(place.from.map(from.dialectOf)), new Set(place.to.map(to.dialectOf))];
  const lost = [...before].filter((each) => !now.has(each) && each !== from.dialect);
  const gained = [...now].filter((each) => !before.has(each) && each !== to.dialect);
  if (lost.length + gained.length === 0) return;
  const [old = from.dialect, next = to.dialect] = [lost[0], gained[0]];
  const rule = lost.length < 2 && gained.length < 2 ? dialectRule(from, to, old, next) : 'identityChanged';
  foundDialect(rule, place.path, describeDifference('$schema', printed(old), printed(next)));
}

function printed(dialect: JsonValue): string | null {
  return dialect === null ? null : canonicalJson(dialect);
}

function draftOf(dialect: JsonValue): Draft | null {
  if (typeof dialect !== 'string') return null;
  return (
    drafts.find((draft) => new RegExp(`^https?://json-schema\\.org/(?:draft/)?${draft}/schema#?$`).test(dialect)) ??
    null
  );
}

/** Whether both drafts define the keywords of a schema, apart from those of the object schemas in it. */
function isDefinedIn(schema: Schema, both: readonly Draft[]): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    if (!inAll(both, ...draftsOf(keyword, value, Object.keys(schema)))) return false;
    const hasBoolean = innerSchemas(keyword, value).some(([, inner]) => typeof inner === 'boolean');
    return !hasBoolean || inAll(both, 'draft-06', null);
  });
}

/** The drafts that define a keyword with the meaning that this value has. */
function draftsOf(keyword: string, value: JsonValue, siblings: readonly string[]): readonly [Draft, Draft | null] {
  // Before 2019-09, a `$ref` disabled its siblings. Definitions have no effect themselves.
  if (keyword === '$ref' && siblings.some((name) => name !== '$ref' && !naming.has(name))) return ['2019-09', null];
  if (keyword === 'items' && Array.isArray(value)) return ['draft-04', '2019-09'];
  if (keyword.startsWith('exclusive')) {
    return typeof value === 'boolean' ? ['draft-04', 'draft-04'] : ['draft-06', null];
  }
  // A plain-name fragment was an anchor until draft 7.
  if (keyword === '$id' && typeof value === 'string' && value.includes('#')) return ['draft-06', 'draft-07'];
  const first = drafts.find((draft) => added[draft]?.split(' ').includes(keyword));
  return [first ?? 'draft-04', lastDrafts.get(keyword) ?? null];
}

function inAll(both: readonly Draft[], first: Draft, last: Draft | null): boolean {
  const latest = last === null ? drafts.length : drafts.indexOf(last);
  return both.every((draft) => drafts.indexOf(draft) >= drafts.indexOf(first) && drafts.indexOf(draft) <= latest);
}
