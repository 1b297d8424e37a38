import { type PayloadSchema, withoutNull } from '@deedwire/core/payload-fields';
import type { LayoutWithReference } from '@deedwire/layout';
import { exampleFindings } from '@deedwire/webhook-diagnosis';
import type { Generated } from '../generated.ts';
import { type EventType, readEventTypes } from '../payloads/event-types.ts';
import { receiverFolder } from '../platform-folders.ts';
import { withRegions } from '../region.ts';
import { changelogPage } from './changelog-page.ts';
import { deliveriesPage } from './deliveries-page.ts';
import { interfaceDifferences } from './differences.ts';
import { eventPage, payloadUpgradePage } from './event-page/event-page.ts';
import { indexPage } from './index-page.ts';
import { readInterfaceContracts } from './interface-contracts.ts';
import { interfacePages } from './interface-page/interface-page.ts';
import { interfaceUpgradePage } from './interface-page/interface-upgrade-page.ts';
import { code, link, page, table } from './markdown.ts';
import { pathFrom, type PathTo } from './path-to.ts';
import { readPublishedEvents } from './published-events.ts';
import { upgradeFile, upgrades } from './upgrade-links.ts';
import { whatsNewPage } from './whats-new-page.ts';

/**
 * Every page, by its path in the folder of the reference.
 *
 * @throws {Error} if two pages have one path
 */
export async function referencePages(layout: LayoutWithReference): Promise<Map<string, string>> {
  const contracts = readInterfaceContracts(layout);
  const events = await readPublishedEvents(layout);
  const pages = new Map<string, string>();
  const add = (path: string, text: (pathTo: PathTo) => string): void => {
    // Some file systems do not tell `order` from `Order`.
    const other = [...pages.keys()].find((each) => each.toLowerCase() === path.toLowerCase());
    if (other !== undefined) throw new Error(`${other} and ${path} would be one file.`);
    pages.set(path, text(pathFrom(layout.reference, path)));
  };
  add('README.md', (pathTo) => indexPage(contracts, events, pathTo));
  add('whats-new.md', (pathTo) => whatsNewPage(layout, pathTo));
  add('webhooks/README.md', (pathTo) => deliveriesPage(events, pathTo));
  add('webhooks/findings.md', (pathTo) => findingsPage(layout, pathTo));
  for (const contract of contracts) {
    const { name, folder, history, versions } = contract;
    const of = `the ${name} interface`;
    for (const version of versions) {
      const subject = version.version;
      for (const [path, text] of interfacePages(contract, version, events)) add(`${name}/${path}`, text);
      add(`${name}/${subject}.changelog.md`, (pathTo) => changelogPage({ of, history, subject, root: '..', pathTo }));
    }
    for (const { from, to } of upgrades(versions)) {
      const differences = interfaceDifferences(folder, from.version, to.version);
      add(`${name}/${upgradeFile(from, to)}`, (pathTo) =>
        interfaceUpgradePage(contract, from, to, differences, pathTo),
      );
    }
  }
  for (const eventType of events.types) {
    const { type, versions } = eventType;
    const { history } = events;
    for (const version of versions) {
      const subject = `${type}/${version.version}`;
      add(`webhooks/${subject}.md`, (pathTo) => eventPage(events, eventType, version, contracts, pathTo));
      add(`webhooks/${subject}.changelog.md`, (pathTo) =>
        changelogPage({ of: type, history, subject, root: '../..', pathTo }),
      );
    }
    for (const { from, to } of upgrades(versions))
      add(`webhooks/${type}/${upgradeFile(from, to)}`, (pathTo) =>
        payloadUpgradePage(events, type, { from, to }, pathTo),
      );
  }
  return pages;
}

/** The page about what `verify` finds in a captured request, with an anchor for each code. */
function findingsPage({ names }: LayoutWithReference, pathTo: PathTo): string {
  return page('Findings', [
    `What \`deedwire-operator webhook verify\` and ${link('`deedwire-webhook-receiver verify`', pathTo(`${receiverFolder}/README.md`))} find in a request whose signature a receiver rejects, and what to do. Names and numbers in these texts are examples.`,
    ...[...Map.groupBy(exampleFindings(names.headerPrefix), (finding) => finding.code)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([heading, findings]) => [
        `## ${heading}`,
        ...findings.map(({ problem, remedy }) => `**${problem}** ${remedy}`),
      ]),
  ]);
}

/** The pages of the reference, and the table of event types in the README of the package of payloads. */
export async function reference(layout: LayoutWithReference): Promise<Generated> {
  const { reference: folder, payloads } = layout;
  const files = new Map(Array.from(await referencePages(layout), ([path, text]) => [`${folder}/${path}`, text]));
  const readme = `${payloads}/README.md`;
  files.set(readme, withRegions(readme, { 'event types': eventTable(await readEventTypes(layout)) }));
  return { files, folders: [folder] };
}

function eventTable(types: readonly EventType[]): string {
  const rows = types.flatMap(({ type, interfaces, versions }) =>
    versions.map(({ version, status, schema: { properties } }) => [
      code(type),
      status === 'current' ? version : `${version}, ${status}`,
      interfaces.length > 1 ? 'both' : interfaces.join(),
      Object.entries(properties?.['data']?.properties ?? {})
        .map(([name, field]) => code(fieldSummary(name, field)))
        .join(', '),
    ]),
  );
  return table(['type', 'version', 'interface', code('data')], rows, { isLastPadded: true });
}

/** For example `order { id, reference }`. */
function fieldSummary(name: string, field: PayloadSchema): string {
  const inner = Object.entries(withoutNull(field).properties ?? {});
  if (inner.length === 0) return name;
  return `${name} { ${inner.map(([innerName, innerField]) => fieldSummary(innerName, innerField)).join(', ')} }`;
}
