import type { ListedVersion } from '../event-versions.ts';
import { docsFolder } from '../platform-folders.ts';
import { statusExplanation } from './lifecycle.ts';
import { link } from './markdown.ts';
import type { PathTo } from './path-to.ts';

interface Version {
  readonly version: string;
  readonly status: string;
}

/** The pairs of versions that have an upgrade guide: from each version that is still served to each newer one. */
export function upgrades<V extends Version>(versions: readonly V[]): { from: V; to: V }[] {
  const served = versions.filter(({ status }) => status !== 'retired');
  return served.flatMap((from) => served.filter(({ version }) => version > from.version).map((to) => ({ from, to })));
}

/** The file name of an upgrade guide. */
export function upgradeFile(from: Version, to: Version): string {
  return `${from.version}-to-${to.version}.md`;
}

/** Links to the guides from and to a version, for a page in the same folder. */
export function upgradeGuides(versions: readonly Version[], of: Version): string[] {
  return upgrades(versions)
    .filter(({ from, to }) => from.version === of.version || to.version === of.version)
    .map(({ from, to }) => link(`upgrade from ${from.version} to ${to.version}`, upgradeFile(from, to)));
}

/**
 * The beginning of an upgrade guide, after its title.
 *
 * @param prefix of the names of the links to the pages of both versions
 * @param pathTo relative to the guide
 */
export function upgradeIntroduction(
  { prefix = '', pathTo }: { prefix?: string; pathTo: PathTo },
  from: ListedVersion,
  to: ListedVersion,
  steps: readonly string[],
): string[] {
  const links = [
    ...[from, to].map(({ version }) => link(`${prefix}${version}`, `${version}.md`)),
    link('how to move to a newer version', `${pathTo(`${docsFolder}/versions.md`)}#move-to-a-newer-version`),
  ];
  return [
    `${from.version}: ${statusExplanation(from)}`,
    `${to.version}: ${statusExplanation(to)}`,
    `See also: ${links.join(' · ')}.`,
    '## Steps',
    steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
  ];
}
