import { childPointer } from '../json/json-value.ts';
import type { Found } from './found.ts';
import type { Manifest } from './manifest.ts';
import { matchMembers } from './match-members.ts';
import { manifestRules } from './rules.ts';

export function compareCostWeights(
  found: Found,
  existed: (coordinate: string) => boolean,
  from: Manifest['costWeights'],
  to: Manifest['costWeights'],
): void {
  matchMembers(from, to, {
    removed(coordinate) {
      found(manifestRules.weightRemoved, pointerOf(coordinate), `The weight of ${coordinate} is no longer listed.`);
    },
    added(coordinate, weight) {
      const rule = existed(coordinate) ? manifestRules.weightRaised : manifestRules.weightAddedWithNew;
      found(rule, pointerOf(coordinate), `The weight of ${coordinate} was added: ${weight}.`);
    },
    kept(coordinate, before, now) {
      if (before === now) return;
      const rule = now > before ? manifestRules.weightRaised : manifestRules.weightLowered;
      found(rule, pointerOf(coordinate), `The weight of ${coordinate} changed from ${before} to ${now}.`);
    },
  });
}

function pointerOf(coordinate: string): string {
  return childPointer('/costWeights', coordinate);
}
