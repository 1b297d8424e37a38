import { canonicalJson, ownMember } from '../json/json-value.ts';
import type { Schema } from './schema-document.ts';

/** All that these schemas say under a keyword, as canonical JSON. */
export function saidUnder(all: readonly Schema[], keyword: string): Set<string> {
  return new Set(
    all
      .map((schema) => ownMember(schema, keyword))
      .filter((value) => value !== undefined)
      .map(canonicalJson),
  );
}

/** What only the first of two sets has, sorted. */
export function onlyIn(set: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...set].filter((value) => !other.has(value)).toSorted();
}

export function show(values: Iterable<string>): string {
  const texts = [...values].toSorted();
  return texts.length === 0 ? 'absent' : texts.join(' and ');
}
