import type { Rule } from '../change.ts';

/** Every verdict about versions as a whole. What changes inside a contract is judged by its own rules. */
export const workspaceRules = {
  versionAdded: {
    what: 'a version is added',
    verdict: 'minor',
    why: 'Nobody is moved to it: versions are named by those who use them.',
  },
  versionRetired: {
    what: 'a released version is removed, or becomes `retired`',
    verdict: 'major',
    why: 'Whoever still pins it is refused.',
  },
  previewRemoved: {
    what: 'a preview is removed',
    verdict: 'minor',
    why: 'A preview is no promise: it may break under a minor.',
  },
  versionWithdrawn: {
    what: 'a released version becomes a preview again',
    verdict: 'major',
    why: 'The promise that it only grows is taken back.',
  },
  versionReleased: {
    what: 'a preview becomes `current`',
    verdict: 'minor',
    why: 'A promise is given: from now on it only grows.',
  },
  versionDeprecated: {
    what: 'a version is deprecated',
    verdict: 'minor',
    why: 'Semantic Versioning asks for a minor when something is marked as deprecated.',
  },
  deprecationRevoked: {
    what: 'a deprecated version becomes `current` again',
    verdict: 'minor',
    why: 'A promise is given again: it stays.',
  },
  sunsetEarlier: {
    what: 'the sunset of a version moves closer, or is set after the deprecation',
    verdict: 'major',
    why: 'Whoever planned with the old day has less time than was promised.',
  },
  sunsetLater: {
    what: 'the sunset of a version moves away, or is dropped',
    verdict: 'minor',
    why: 'Whoever planned with the old day has more time.',
  },
  contractAdded: {
    what: 'a version that exists gets another contract file',
    verdict: 'minor',
    why: 'Something is promised that was not before.',
  },
  contractRemoved: {
    what: 'a version that stays loses a contract file',
    verdict: 'major',
    why: 'All that the file promised is taken back.',
  },
  previewChanged: {
    what: 'a preview is broken',
    verdict: 'minor',
    why: 'The version was a preview: it may break under a minor. Released, this would be major.',
  },
} as const satisfies Record<string, Rule>;
