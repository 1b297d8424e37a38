import { describeDifference } from '../describe-difference.ts';
import type { Comparison, Place } from './comparison.ts';
import { keywordValues, show } from './keyword-values.ts';
import { isDocumentation, isUnknown } from './keywords.ts';

/** Keywords that are true or false, and the rules for setting and removing each. */
const flags = [
  ['deprecated', 'deprecated', 'deprecationRevoked'],
  ['readOnly', 'readOnlySet', 'accessOpened'],
  ['writeOnly', 'accessRestricted', 'accessOpened'],
] as const;

/** Compares the keywords that do not decide whether a value is valid. */
export function compareAnnotations(comparison: Comparison, { path, from, to }: Place): void {
  const [oldDefault, nextDefault] = [show(keywordValues(from, 'default')), show(keywordValues(to, 'default'))];
  const defaultRule = oldDefault === null ? 'defaultAdded' : 'defaultChanged';
  if (oldDefault !== nextDefault)
    comparison.found(defaultRule, path, describeDifference('The default', oldDefault, nextDefault));
  for (const [keyword, set, removed] of flags) {
    const [before, now] = [from, to].map((all) => keywordValues(all, keyword).has('true'));
    if (before !== now) comparison.found(now === true ? set : removed, path, `${keyword} is now ${now}.`);
  }
  const [old, next] = [show(keywordValues(from, 'discriminator')), show(keywordValues(to, 'discriminator'))];
  if (old !== next) comparison.found('discriminatorChanged', path, describeDifference('discriminator', old, next));
  const keywords = new Set([...from, ...to].flatMap((schema) => Object.keys(schema)).filter(isDocumentation));
  for (const keyword of keywords) {
    const [before, now] = [show(keywordValues(from, keyword)), show(keywordValues(to, keyword))];
    if (before === now) continue;
    const rule = isUnknown(keyword) ? 'unknownKeywordChanged' : 'documentationChanged';
    comparison.found(rule, path, describeDifference(keyword, ...shortened(before, now)));
  }
}

/** About 60 characters of each text, among them the first that differ. */
function shortened(...texts: [string | null, string | null]): [string | null, string | null] {
  const [from, to] = texts;
  let same = 0;
  while (from !== null && from[same] !== undefined && from[same] === to?.[same]) same += 1;
  const start = same > 40 ? same - 20 : 0;
  const short = (text: string | null): string | null =>
    text && `${start > 0 ? '…' : ''}${text.slice(start, start + 60)}${text.length > start + 60 ? '…' : ''}`;
  return [short(from), short(to)];
}
