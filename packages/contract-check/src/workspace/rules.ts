import { named, type RuleText } from '../change.ts';

/** The rules for versions as a whole. The other rule tables cover changes inside a contract file. */
export const workspaceRules = named('version', {
  versionAdded: {
    what: 'a version is added',
    verdict: 'minor',
    why: 'Existing clients stay on the version that they pin.',
  },
  versionRetired: {
    what: 'a released version is removed or becomes `retired`',
    verdict: 'major',
    why: 'A client that still pins the version is rejected.',
  },
  previewRemoved: {
    what: 'a preview is removed',
    verdict: 'minor',
    why: 'A preview may break in a minor.',
  },
  versionWithdrawn: {
    what: 'a released version becomes a preview again',
    verdict: 'major',
    why: 'Clients lose the guarantee that the version does not break.',
  },
  versionReleased: {
    what: 'a preview becomes `current`',
    verdict: 'minor',
    why: 'From now on the version may grow but not break.',
  },
  versionDeprecated: {
    what: 'a version is deprecated',
    verdict: 'minor',
    why: 'Semantic Versioning requires a minor when functionality is deprecated.',
  },
  deprecationRevoked: {
    what: 'a deprecated version becomes `current` again',
    verdict: 'minor',
    why: 'Clients can keep using the version.',
  },
  retiredEarly: {
    what: 'a released version is removed or retired without a sunset that was released and has passed',
    verdict: 'major',
    why: 'Clients were promised the version until its sunset.',
  },
  deprecationBackdated: {
    what: 'a deprecation is dated before the day of its release',
    verdict: 'major',
    why: 'Clients learn of the deprecation on the day of the release at the earliest.',
  },
  deprecationMoved: {
    what: 'the date of a deprecation moves to a later day',
    verdict: 'minor',
    why: 'The version is served for as long as before.',
  },
  lifetimeTooShort: {
    what: 'a sunset leaves less than the minimum lifetime',
    verdict: 'major',
    why: 'The package promises a minimum time between a deprecation and its sunset.',
  },
  sunsetAnnounced: {
    what: 'the sunset of a version that is already deprecated is announced',
    verdict: 'major',
    why: 'Clients of the version have to migrate until then.',
  },
  sunsetEarlier: {
    what: 'the sunset of a version moves to an earlier date',
    verdict: 'major',
    why: 'Clients have less time to migrate than was promised.',
  },
  sunsetLater: {
    what: 'the sunset of a version moves to a later date, or is removed',
    verdict: 'minor',
    why: 'Clients have more time to migrate.',
  },
  contractAdded: {
    what: 'an existing version gains a contract file',
    verdict: 'minor',
    why: 'The version promises more, and its existing promises are unchanged.',
  },
  contractRepaired: {
    what: 'an invalid contract becomes valid',
    verdict: 'major',
    why: 'What the old contract promised is unknown, so the change can break it.',
  },
  contractRemoved: {
    what: 'an existing version loses a contract file',
    verdict: 'major',
    why: 'Clients lose everything that the file promised.',
  },
  packageRemoved: {
    what: 'a package with released contracts is removed or renamed',
    verdict: 'major',
    why: 'Its users get no more releases, and nothing compares its contracts.',
  },
  previewChanged: {
    what: 'a preview is broken',
    verdict: 'minor',
    why: 'The version is a preview, which may break in a minor. In a released version this change is major.',
  },
} as const satisfies Record<string, RuleText>);

/** The rules whose changes no bump allows. */
export const refusedRules: ReadonlySet<string> = new Set([
  workspaceRules.packageRemoved.id,
  workspaceRules.versionWithdrawn.id,
  workspaceRules.retiredEarly.id,
  workspaceRules.deprecationBackdated.id,
  workspaceRules.lifetimeTooShort.id,
  workspaceRules.sunsetEarlier.id,
]);
