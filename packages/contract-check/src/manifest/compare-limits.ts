import type { Found, Rule } from '../change.ts';
import { compareMembers } from '../compare-members.ts';
import { childPointer } from '../json/json-value.ts';
import { compareDescriptions } from './compare-descriptions.ts';
import type { Limit, Manifest } from './manifest.ts';
import { manifestRules } from './rules.ts';
import { wordsOf } from './words-of.ts';

/** Compares limits or page sizes. A plain number is a limit on what clients may send or request. */
export function compareLimits(
  found: Found,
  existed: (coordinate: string) => boolean,
  pointer: '/limits' | '/pagination',
  from: Manifest['limits'] = {},
  to: Manifest['limits'] = {},
): void {
  compareMembers(Object.entries(from), Object.entries(to), {
    removed: (name) => found(manifestRules.limitRemoved, childPointer(pointer, name), `${name} is no longer listed.`),
    added(name, item) {
      const { value, introducedWith } = limitOf(item);
      const isNew = introducedWith !== undefined && !existed(introducedWith);
      const rule = isNew ? manifestRules.limitAddedWithNew : manifestRules.limitAdded;
      found(rule, childPointer(pointer, name), `${name} was added: ${value}.`);
    },
    kept: (name, before, now) => compareLimit(found, childPointer(pointer, name), name, limitOf(before), limitOf(now)),
  });
}

function compareLimit(found: Found, pointer: string, name: string, from: Limit, to: Limit): void {
  compareDescriptions(found, pointer, from, to);
  const [before, now] = [from.bounds ?? 'input', to.bounds ?? 'input'];
  if (before !== now)
    found(manifestRules.boundedSideChanged, pointer, `${name} bounded ${before} and now bounds ${now}.`);
  if ((from.enforced ?? true) !== (to.enforced ?? true)) {
    const message = to.enforced === false ? `${name} is no longer enforced.` : `${name} is now enforced.`;
    found(manifestRules.enforcementChanged, pointer, message);
  }
  if (from.value === to.value) return;
  found(ruleFor(name, before, from.value, to.value), pointer, `${name} changed from ${from.value} to ${to.value}.`);
}

function ruleFor(name: string, bounds: 'input' | 'output', from: number, to: number): Rule {
  const words = wordsOf(name);
  if (words.has('default')) return manifestRules.defaultChanged;
  const isMinimum = words.has('minimum') || words.has('min');
  const narrower = isMinimum ? to > from : to < from;
  if (bounds === 'output') return narrower ? manifestRules.outputLimitLowered : manifestRules.outputLimitRaised;
  return narrower ? manifestRules.limitTightened : manifestRules.limitLoosened;
}

function limitOf(item: number | Limit): Limit {
  return typeof item === 'number' ? { value: item } : item;
}
