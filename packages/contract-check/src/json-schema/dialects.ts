import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { RuleName } from './comparison.ts';
import { innerSchemas, naming } from './keywords.ts';

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

/** The rule for a change of `$schema` in the root of a schema. */
export function dialectRule(from: JsonObject, to: JsonObject): RuleName {
  const [one, other] = [draftOf(from['$schema']), draftOf(to['$schema'])];
  if (one === null || other === null) return 'identityChanged';
  // Only the notation differs.
  if (one === other) return 'documentationChanged';
  return [from, to].every((root) => isDefinedIn(root, [one, other])) ? 'dialectChanged' : 'identityChanged';
}

function draftOf(dialect: JsonValue | undefined): Draft | null {
  if (typeof dialect !== 'string') return null;
  return (
    drafts.find((draft) => new RegExp(`^https?://json-schema\\.org/(?:draft/)?${draft}/schema#?$`).test(dialect)) ??
    null
  );
}

function isDefinedIn(schema: JsonValue, both: readonly Draft[]): boolean {
  if (typeof schema === 'boolean') return inAll(both, 'draft-06', null);
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([keyword, value]) => {
    if (!inAll(both, ...draftsOf(keyword, value, Object.keys(schema)))) return false;
    return innerSchemas(keyword, value).every(([, inner]) => isDefinedIn(inner, both));
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
