import type { Found } from '../change.ts';
import { compareMembers } from '../compare-members.ts';
import { childPointer } from '../json/json-value.ts';
import type { Manifest } from './manifest.ts';
import { manifestRules } from './rules.ts';
import { wordsOf } from './words-of.ts';

/** Compares the weights, the list sizes and the page maximums, which have the same rules. Only a page maximum that is new lowers a cost. */
export function compareCosts(
  found: Found,
  existed: (coordinate: string) => boolean,
  from: Manifest,
  to: Manifest,
): void {
  const areFirst = !hasCosts(from) && announcesCostLimit(from);
  for (const { member, noun } of costMembers) {
    const pointerOf = (coordinate: string): string => childPointer(`/${member}`, coordinate);
    compareMembers(Object.entries(from[member] ?? {}), Object.entries(to[member] ?? {}), {
      removed(coordinate) {
        found(manifestRules.weightRemoved, pointerOf(coordinate), `The ${noun} of ${coordinate} is no longer listed.`);
      },
      added(coordinate, value) {
        const message = `The ${noun} of ${coordinate} was added: ${value}.`;
        if (existed(coordinate) && member === 'costPageMaximums')
          found(manifestRules.weightLowered, pointerOf(coordinate), message);
        else if (!existed(coordinate)) found(manifestRules.weightAddedWithNew, pointerOf(coordinate), message);
        else found(areFirst ? manifestRules.firstWeights : manifestRules.weightRaised, pointerOf(coordinate), message);
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
