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
  compareFormats(comparison, place);
  // The encoding and the media type of the content are compared like a format.
  compareTexts(comparison, place, 'contentEncoding', formatRules);
  compareTexts(comparison, place, 'contentMediaType', formatRules);
}

/** For strings and for numbers, which have formats such as `int32`. */
function compareFormats(comparison: Comparison, place: Place): void {
  compareTexts(comparison, place, 'format', formatRules);
}

function compareTexts({ found }: Comparison, { path, from, to }: Place, keyword: string, rules: TextRules): void {
  const [before, now] = [keywordValues(from, keyword), keywordValues(to, keyword)];
  const [removed, added] = [onlyIn(before, now), onlyIn(now, before)];
  const related = keyword === 'format' ? relatedRule(removed, added) : null;
  const rule = related ?? ruleOf(removed.length, added.length, rules);
  if (rule !== null) found(rule, path, describeDifference(keyword, show(before), show(now)));
}

/** Null unless one format changed to a narrower or wider one. */
function relatedRule(removed: readonly string[], added: readonly string[]): RuleName | null {
  const [old, now] = [removed[0], added[0]];
  if (removed.length !== 1 || added.length !== 1 || old === undefined || now === undefined) return null;
  if (isPartOf(now, old)) return 'formatNarrowed';
  return isPartOf(old, now) ? 'formatWidened' : null;
}

function isPartOf(part: string, whole: string): boolean {
  const wider = widerFormats[part.slice(1, -1)] ?? [];
  return wider.includes(whole.slice(1, -1));
}

function ruleOf(removed: number, added: number, rules: TextRules): RuleName | null {
  if (removed > 0 && added > 0) return rules.changed;
  if (added > 0) return rules.added;
  return removed > 0 ? rules.removed : null;
}

export function compareNumbers(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  const [wasInteger, integer] = [isInteger(from), isInteger(to)];
  if (wasInteger && !integer) comparison.found('typeAdded', path, 'Fractions are now valid.');
  if (!wasInteger && integer) comparison.found('typeRemoved', path, 'Only integers are now valid.');
  compareMultiples(comparison, place);
  compareFormats(comparison, place);
}

function compareMultiples({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [keywordValues(from, 'multipleOf'), keywordValues(to, 'multipleOf')];
  // Integers are the multiples of 1, in both notations.
  const [multiplesBefore, multiplesNow] = [withoutOne(before, from), withoutOne(now, to)];
  const removed = onlyIn(multiplesBefore, multiplesNow);
  const added = onlyIn(multiplesNow, multiplesBefore);
  const [known, kept] = [withOne(before, from), withOne(now, to)];
  const message = describeDifference('multipleOf', show(before), show(now));
  // A multiple of 10 is also a multiple of 5: replacing 5 by 10 tightens the bound and does not loosen it.
  if (added.some((divisor) => ![...known].some((old) => isMultiple(old, divisor)))) {
    found('boundTightened', path, message);
  }
  if (removed.some((divisor) => ![...kept].some((next) => isMultiple(next, divisor)))) {
    found('boundLoosened', path, message);
  }
}

function withoutOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set([...multiples].filter((each) => each !== '1' || !isInteger(all)));
}

function withOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set(isInteger(all) ? [...multiples, '1'] : multiples);
}

function isMultiple(value: string, divisor: string): boolean {
  return JsonNumber.parse(value).isMultipleOf(JsonNumber.parse(divisor));
}
