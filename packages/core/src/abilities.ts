/** What an API key or a session of the portal may do, in the order of lists. Each of them has `READ`. */
export const abilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE', 'MANAGE_KEYS'] as const;

export type Ability = (typeof abilities)[number];

/** Those of a key that is issued without a choice, and of every key from before there were abilities. */
export const usualAbilities: readonly Ability[] = abilities.filter((ability) => ability !== 'MANAGE_KEYS');

export function areUsual(chosen: readonly Ability[]): boolean {
  return chosen.length === usualAbilities.length && usualAbilities.every((ability) => chosen.includes(ability));
}

/** Those that a session of the portal can have. */
export const portalAbilities = [
  'READ',
  'READ_PAYLOAD',
  'OPERATE',
  'CONFIGURE',
  'MANAGE_KEYS',
] as const satisfies readonly Ability[];

export type PortalAbility = (typeof portalAbilities)[number];

/** Says what to pass instead of an invalid choice. Null: it is valid. */
export function findAbilitiesFault(chosen: readonly Ability[]): string | null {
  if (!chosen.includes('READ') || new Set(chosen).size < chosen.length)
    return 'Pass READ, and each further ability at most once.';
  if (chosen.includes('CONFIGURE') && !chosen.includes('READ_PAYLOAD'))
    return 'Pass READ_PAYLOAD with CONFIGURE: a session or a key that sets the URL or the secret can reach payloads and secrets.';
  return null;
}
