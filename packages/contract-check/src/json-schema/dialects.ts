import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { RuleName } from './comparison.ts';
import { innerSchemas, naming } from './keywords.ts';

/** The drafts in order. */
const drafts = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const;
type Draft = (typeof drafts)[number];

/** The first and the last draft that define a keyword. The last is null if newer drafts define it with the same meaning. */
const keywordDrafts: ReadonlyMap<string, readonly [first: Draft, last: Draft | null]> = new Map([
  ['id', ['draft-04', 'draft-04']],
  ['$id', ['draft-06', null]],
  ['const', ['draft-06', null]],
  ['contains', ['draft-06', null]],
  ['propertyNames', ['draft-06', null]],
  ['if', ['draft-07', null]],
  ['then', ['draft-07', null]],
  ['else', ['draft-07', null]],
  ['contentEncoding', ['draft-07', null]],
  ['contentMediaType', ['draft-07', null]],
  ['readOnly', ['draft-07', null]],
  ['writeOnly', ['draft-07', null]],
  ['deprecated', ['2019-09', null]],
  ['$anchor', ['2019-09', null]],
  ['minContains', ['2019-09', null]],
  ['maxContains', ['2019-09', null]],
  ['dependentRequired', ['2019-09', null]],
  ['dependentSchemas', ['2019-09', null]],
  ['unevaluatedItems', ['2019-09', null]],
  ['unevaluatedProperties', ['2019-09', null]],
  ['$recursiveRef', ['2019-09', '2019-09']],
  ['$recursiveAnchor', ['2019-09', '2019-09']],
  ['$dynamicRef', ['2020-12', null]],
  ['$dynamicAnchor', ['2020-12', null]],
  ['prefixItems', ['2020-12', null]],
  ['dependencies', ['draft-04', 'draft-07']],
  ['additionalItems', ['draft-04', '2019-09']],
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
  return keywordDrafts.get(keyword) ?? ['draft-04', null];
}

function inAll(both: readonly Draft[], first: Draft, last: Draft | null): boolean {
  const latest = last === null ? drafts.length : drafts.indexOf(last);
  return both.every((draft) => drafts.indexOf(draft) >= drafts.indexOf(first) && drafts.indexOf(draft) <= latest);
}
