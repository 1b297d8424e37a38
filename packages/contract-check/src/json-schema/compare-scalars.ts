import { describeDifference, onlyIn } from '../differences.ts';
import { JsonNumber } from '../json/json-value.ts';
import type { Comparison, Place, RuleName } from './comparison.ts';
import { keywordValues, show } from './conjunction.ts';
import type { Schema } from './schema-document.ts';
import { isInteger } from './value-set.ts';

/** The formats that include all texts of a format, by format (JSON Schema, section "Defined Formats", and their RFCs). */
const widerFormats: Readonly<Record<string, readonly string[]>> = {
  email: ['idn-email'],
  hostname: ['idn-hostname'],
  uri: ['uri-reference', 'iri', 'iri-reference'],
  'uri-reference': ['iri-reference'],
  iri: ['iri-reference'],
};

type TextRules = Readonly<Record<'removed' | 'added' | 'changed', RuleName>>;

const patternRules = { removed: 'patternRemoved', added: 'patternAdded', changed: 'patternChanged' } as const;
const formatRules = { removed: 'formatWidened', added: 'formatNarrowed', changed: 'formatChanged' } as const;

export function compareStrings(comparison: Comparison, place: Place): void {
  compareTexts(comparison, place, 'pattern', patternRules);
  // The encoding and the media type of the content are compared like a format.
  for (const keyword of ['format', 'contentEncoding', 'contentMediaType'])
    compareTexts(comparison, place, keyword, formatRules);
}

function compareTexts({ found }: Comparison, { path, from, to }: Place, keyword: string, rules: TextRules): void {
  const [before, now] = [keywordValues(from, keyword), keywordValues(to, keyword)];
  const rule = textRule(rules, onlyIn(before, now), onlyIn(now, before), keyword === 'format');
  if (rule !== null) found(rule, path, describeDifference(keyword, show(before), show(now)));
}

function textRule(rules: TextRules, removed: readonly string[], added: readonly string[], isFormat: boolean) {
  const [old, now] = [removed[0], added[0]];
  if (now === undefined) return old === undefined ? null : rules.removed;
  if (old === undefined) return rules.added;
  if (!isFormat || removed.length > 1 || added.length > 1) return rules.changed;
  if (isPartOf(now, old)) return 'formatNarrowed';
  return isPartOf(old, now) ? 'formatWidened' : rules.changed;
}

function isPartOf(part: string, whole: string): boolean {
  const wider = widerFormats[part.slice(1, -1)] ?? [];
  return wider.includes(whole.slice(1, -1));
}

export function compareNumbers(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  const [wasInteger, integer] = [isInteger(from), isInteger(to)];
  if (wasInteger && !integer) comparison.found('typeAdded', path, 'Fractions are now valid.');
  if (!wasInteger && integer) comparison.found('typeRemoved', path, 'Only integers are now valid.');
  compareMultiples(comparison, place);
  // Numbers have formats such as `int32`.
  compareTexts(comparison, place, 'format', formatRules);
}

function compareMultiples({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [divisorsOf(from), divisorsOf(to)];
  const [old, next] = [show(keywordValues(from, 'multipleOf')), show(keywordValues(to, 'multipleOf'))];
  const message = describeDifference('multipleOf', old, next);
  if (isNarrower(now, before)) found('boundTightened', path, message);
  if (isNarrower(before, now)) found('boundLoosened', path, message);
}

/** Integers are the multiples of 1, in both notations. */
function divisorsOf(all: readonly Schema[]): Set<string> {
  return new Set([...keywordValues(all, 'multipleOf'), ...(isInteger(all) ? ['1'] : [])]);
}

/**
 * Whether divisors exclude numbers that others do not, apart from fractions. A multiple of 10 is also a multiple of 5: replacing 5 by 10
 * tightens the bound and does not loosen it.
 */
function isNarrower(divisors: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return onlyIn(divisors, others).some(
    (divisor) =>
      divisor !== '1' && ![...others].some((other) => JsonNumber.parse(other).isMultipleOf(JsonNumber.parse(divisor))),
  );
}
