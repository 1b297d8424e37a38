import type { Comparison } from './comparison.ts';
import { isDocumentation } from './keywords.ts';
import { saidUnder, show } from './said-under.ts';
import type { Schema } from './schema-document.ts';

/** What schemas say beside which values are valid. */
export function compareRemarks(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  compareDefaults(comparison, path, from, to);
  compareFlag('deprecated', from, to, (set) => comparison.found(set ? 'deprecated' : 'deprecationRevoked', path, `deprecated is ${set}.`));
  for (const keyword of ['readOnly', 'writeOnly']) {
    compareFlag(keyword, from, to, (set) => comparison.found(set ? 'accessRestricted' : 'accessOpened', path, `${keyword} is ${set}.`));
  }
  const keywords = new Set([...from, ...to].flatMap((schema) => Object.keys(schema)).filter(isDocumentation));
  for (const keyword of keywords) {
    const [before, now] = [show(saidUnder(from, keyword)), show(saidUnder(to, keyword))];
    if (before !== now) comparison.found('documentationChanged', path, `${keyword} was ${short(before)}, is ${short(now)}.`);
  }
}

function compareDefaults(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const [before, now] = [saidUnder(from, 'default'), saidUnder(to, 'default')];
  if (show(before) === show(now)) return;
  const rule = before.size === 0 ? 'defaultAdded' : 'defaultChanged';
  comparison.found(rule, path, `default was ${show(before)}, is ${show(now)}.`);
}

function compareFlag(keyword: string, from: readonly Schema[], to: readonly Schema[], changed: (set: boolean) => void): void {
  const [before, now] = [saidUnder(from, keyword).has('true'), saidUnder(to, keyword).has('true')];
  if (before !== now) changed(now);
}

function short(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
