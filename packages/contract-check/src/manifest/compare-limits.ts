import type { Found, Rule } from '../change.ts';
import { compareMembers } from '../differences.ts';
import { childPointer } from '../json/json-value.ts';
import { compareDescriptions } from './compare-entries.ts';
import type { Limit, Manifest } from './manifest.ts';
import { manifestRules } from './rules.ts';

type Existed = (coordinate: string) => boolean;

/** Compares limits and page sizes. A plain number is a limit on what clients may send or request. */
export function compareLimits(found: Found, existed: Existed, from: Manifest, to: Manifest): void {
  for (const member of ['limits', 'pagination'] as const) {
    const pointerOf = (name: string): string => childPointer(`/${member}`, name);
    compareMembers(Object.entries(from[member] ?? {}), Object.entries(to[member] ?? {}), {
      removed: (name) => found(manifestRules.limitRemoved, pointerOf(name), `${name} is no longer listed.`),
      added(name, item) {
        const { value, introducedWith } = limitOf(item);
        const isNew = introducedWith !== undefined && !existed(introducedWith);
        const rule = isNew ? manifestRules.limitAddedWithNew : manifestRules.limitAdded;
        found(rule, pointerOf(name), `${name} was added: ${value}.`);
      },
      kept: (name, before, now) => compareLimit(found, pointerOf(name), name, limitOf(before), limitOf(now)),
    });
  }
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

/** Compares the weights, the list sizes and the page maximums, which have the same rules. Only a page maximum that is new lowers a cost. */
export function compareCosts(found: Found, existed: Existed, from: Manifest, to: Manifest): void {
  const areFirst = !hasCosts(from) && announcesCostLimit(from);
  for (const { member, noun } of costMembers) {
    const pointerOf = (coordinate: string): string => childPointer(`/${member}`, coordinate);
    compareMembers(Object.entries(from[member] ?? {}), Object.entries(to[member] ?? {}), {
      removed(coordinate) {
        found(manifestRules.weightRemoved, pointerOf(coordinate), `The ${noun} of ${coordinate} is no longer listed.`);
      },
      added(coordinate, value) {
        const raised = areFirst ? manifestRules.firstWeights : manifestRules.weightRaised;
        const added = member === 'costPageMaximums' ? manifestRules.weightLowered : raised;
        const rule = existed(coordinate) ? added : manifestRules.weightAddedWithNew;
        found(rule, pointerOf(coordinate), `The ${noun} of ${coordinate} was added: ${value}.`);
      },
      kept(coordinate, before, now) {
        if (before === now) return;
        const rule = now > before ? manifestRules.weightRaised : manifestRules.weightLowered;
        found(rule, pointerOf(coordinate), `The ${noun} of ${coordinate} changed from ${before} to ${now}.`);
      },
    });
  }
}

const costMembers = [
  { member: 'costWeights', noun: 'weight' },
  { member: 'costListSizes', noun: 'list size' },
  { member: 'costPageMaximums', noun: 'page maximum' },
] as const;

function hasCosts(manifest: Manifest): boolean {
  return costMembers.some(({ member }) => Object.keys(manifest[member] ?? {}).length > 0);
}

/** Whether the manifest has limits whose names contain the word `cost`, and enforces none of them. */
function announcesCostLimit({ limits = {} }: Manifest): boolean {
  const costLimits = Object.entries(limits).filter(([name]) => wordsOf(name).has('cost'));
  return (
    costLimits.length > 0 && costLimits.every(([, limit]) => typeof limit !== 'number' && limit.enforced === false)
  );
}

/** Splits the name of a limit into its words: `firstMinimum` into `first` and `minimum`. */
function wordsOf(name: string): Set<string> {
  const spaced = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/[^A-Za-z\d]+/g, ' ');
  return new Set(spaced.toLowerCase().split(' '));
}
