import { major, minor, named } from '../change.ts';

/** The rules for versions as a whole. The other rule tables cover changes inside a contract file. */
export const workspaceRules = named('version', {
  versionAdded: minor('a version is added', 'Existing clients stay on the version that they pin.'),
  versionRetired: major(
    'a released version is removed or becomes `retired`',
    'A client that still pins the version is rejected.',
  ),
  previewRemoved: minor('a preview is removed', 'A preview may break in a minor.'),
  versionWithdrawn: major(
    'a released version becomes a preview again',
    'Clients lose the guarantee that the version does not break.',
  ),
  versionReleased: minor('a preview becomes `current`', 'From now on the version may grow but not break.'),
  versionDeprecated: minor(
    'a version is deprecated',
    'Semantic Versioning requires a minor when functionality is deprecated.',
  ),
  deprecationRevoked: minor('a deprecated version becomes `current` again', 'Clients can keep using the version.'),
  retiredEarly: major(
    'a released version is removed or retired without a sunset that was released and has passed',
    'Clients were promised the version until its sunset.',
  ),
  deprecationBackdated: major(
    'a deprecation is dated before the day of its release',
    'Clients learn of the deprecation on the day of the release at the earliest.',
  ),
  deprecationMoved: minor(
    'the date of a deprecation moves to a later day',
    'The version is served for as long as before.',
  ),
  lifetimeTooShort: major(
    'a sunset leaves less than the minimum lifetime',
    'The package promises a minimum time between a deprecation and its sunset.',
  ),
  sunsetAnnounced: major(
    'the sunset of a version that is already deprecated is announced',
    'Clients of the version have to migrate until then.',
  ),
  sunsetEarlier: major(
    'the sunset of a version moves to an earlier date',
    'Clients have less time to migrate than was promised.',
  ),
  sunsetLater: minor(
    'the sunset of a version moves to a later date, or is removed',
    'Clients have more time to migrate.',
  ),
  contractAdded: minor(
    'an existing version gains a contract file',
    'The version promises more, and its existing promises are unchanged.',
  ),
  contractRepaired: major(
    'an invalid contract becomes valid',
    'What the old contract promised is unknown, so the change can break it.',
  ),
  contractNotCompared: major(
    'a contract changes that combines too many schemas to be compared',
    'What changed is unknown, so it can break clients.',
  ),
  contractRemoved: major(
    'an existing version loses a contract file',
    'Clients lose everything that the file promised.',
  ),
  packageRemoved: major(
    'a package with released contracts is removed or renamed',
    'Its users get no more releases, and nothing compares its contracts.',
  ),
  previewChanged: minor(
    'a preview is broken',
    'The version is a preview, which may break in a minor. In a released version this change is major.',
  ),
});

/** The rules whose changes no bump allows. */
export const refusedRules: ReadonlySet<string> = new Set([
  workspaceRules.packageRemoved.id,
  workspaceRules.versionWithdrawn.id,
  workspaceRules.retiredEarly.id,
  workspaceRules.deprecationBackdated.id,
  workspaceRules.lifetimeTooShort.id,
  workspaceRules.sunsetEarlier.id,
]);
