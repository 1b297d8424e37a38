import { canonicalJson, ownMember } from '../json/json-value.ts';
import type { Schema } from './schema-document.ts';

/** The values of a keyword in all schemas, as canonical JSON. */
export function keywordValues(all: readonly Schema[], keyword: string): Set<string> {
  return new Set(
    all
      .map((schema) => ownMember(schema, keyword))
      .filter((value) => value !== undefined)
      .map(canonicalJson),
  );
}

/** Null if there are no values. */
export function show(values: Iterable<string>): string | null {
  const texts = [...values].toSorted();
  return texts.length === 0 ? null : texts.join(' and ');
}
