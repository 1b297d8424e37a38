import type { Found } from '../change.ts';
import { compareMembers } from '../differences.ts';
import { childPointer } from '../json/json-value.ts';
import type { Manifest } from './manifest.ts';
import { manifestRules } from './rules.ts';

/** Compares what credentials need to use fields. Abilities have no order: another one counts as an additional one. */
export function compareAbilities(
  found: Found,
  existed: (coordinate: string) => boolean,
  from: Manifest,
  to: Manifest,
): void {
  if (from.abilities !== undefined && to.abilities === undefined) {
    found(manifestRules.abilitiesRemoved, '/abilities', 'The abilities are no longer listed.');
    return;
  }
  const raised = from.abilities === undefined ? manifestRules.firstAbilities : manifestRules.abilityRaised;
  compareMembers(Object.entries(from.abilities ?? {}), Object.entries(to.abilities ?? {}), {
    removed: (coordinate) =>
      found(manifestRules.abilityLowered, pointerOf(coordinate), `${coordinate} needs no ability any longer.`),
    added(coordinate, needed) {
      const rule = existed(coordinate) ? raised : manifestRules.abilityAddedWithNew;
      found(rule, pointerOf(coordinate), `${coordinate} needs ${list(needed)}.`);
    },
    kept(coordinate, before, now) {
      const isRaised = now.some((ability) => !before.includes(ability));
      if (!isRaised && before.every((ability) => now.includes(ability))) return;
      const rule = isRaised ? manifestRules.abilityRaised : manifestRules.abilityLowered;
      found(rule, pointerOf(coordinate), `${coordinate} needed ${list(before)}, and now needs ${list(now)}.`);
    },
  });
}

function pointerOf(coordinate: string): string {
  return childPointer('/abilities', coordinate);
}

function list(abilities: readonly string[]): string {
  return abilities.join(' and ') || 'nothing';
}
