import { link } from './markdown.ts';

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
