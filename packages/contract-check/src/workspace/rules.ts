import type { Rule } from '../change.ts';

/** The rules for versions as a whole. The other rule tables cover changes inside a contract file. */
export const workspaceRules = {
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
  sunsetEarlier: {
    what: 'the sunset of a version moves to an earlier date, or is set after the deprecation',
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
  contractRemoved: {
    what: 'an existing version loses a contract file',
    verdict: 'major',
    why: 'Clients lose everything that the file promised.',
  },
  previewChanged: {
    what: 'a preview is broken',
    verdict: 'minor',
    why: 'The version is a preview, which may break in a minor. In a released version this change is major.',
  },
} as const satisfies Record<string, Rule>;
