import { describeDifference } from '../describe-difference.ts';
import type { Comparison, Place } from './comparison.ts';
import { keywordValues, show } from './keyword-values.ts';
import { isDocumentation } from './keywords.ts';
import type { Schema } from './schema-document.ts';

/** Compares the keywords that do not decide whether a value is valid. */
export function compareAnnotations(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  compareDefaults(comparison, place);
  compareFlag('deprecated', from, to, (set) =>
    comparison.found(set ? 'deprecated' : 'deprecationRevoked', path, `deprecated is now ${set}.`),
  );
  const access = [
    ['readOnly', 'readOnlySet'],
    ['writeOnly', 'accessRestricted'],
  ] as const;
  for (const [keyword, restricting] of access) {
    compareFlag(keyword, from, to, (set) =>
      comparison.found(set ? restricting : 'accessOpened', path, `${keyword} is now ${set}.`),
    );
  }
  const [discriminator, newDiscriminator] = [
    show(keywordValues(from, 'discriminator')),
    show(keywordValues(to, 'discriminator')),
  ];
  if (discriminator !== newDiscriminator)
    comparison.found(
      'discriminatorChanged',
      path,
      describeDifference('discriminator', discriminator, newDiscriminator),
    );
  const keywords = new Set([...from, ...to].flatMap((schema) => Object.keys(schema)).filter(isDocumentation));
  for (const keyword of keywords) {
    const [before, now] = [show(keywordValues(from, keyword)), show(keywordValues(to, keyword))];
    if (before !== now)
      comparison.found('documentationChanged', path, describeDifference(keyword, short(before), short(now)));
  }
}

function compareDefaults({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [keywordValues(from, 'default'), keywordValues(to, 'default')];
  if (show(before) === show(now)) return;
  const rule = before.size === 0 ? 'defaultAdded' : 'defaultChanged';
  found(rule, path, describeDifference('The default', show(before), show(now)));
}

function compareFlag(
  keyword: string,
  from: readonly Schema[],
  to: readonly Schema[],
  changed: (set: boolean) => void,
): void {
  const [before, now] = [keywordValues(from, keyword).has('true'), keywordValues(to, keyword).has('true')];
  if (before !== now) changed(now);
}

function short(text: string | null): string | null {
  return text === null || text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
