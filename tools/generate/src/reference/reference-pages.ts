import { names } from '@deedwire/firm/names';
import { exampleFindings } from '@deedwire/webhook-diagnosis';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { eventsFolder } from '../event-versions.ts';
import type { Generated } from '../generated.ts';
import { withRegions } from '../region.ts';
import { changelogPage } from './changelog-page.ts';
import { deliveriesPage } from './deliveries-page.ts';
import { interfaceDifferences } from './differences.ts';
import { eventPage, payloadUpgradePage } from './event-page/event-page.ts';
import { type PayloadSchema, readPayloadSchema, schemaPathOf, withoutNull } from './event-page/payload-fields.ts';
import { readHistory } from './history.ts';
import { indexPage } from './index-page.ts';
import { packageFolder, readInterfaceContracts } from './interface-contracts.ts';
import { interfacePage } from './interface-page/interface-page.ts';
import { interfaceUpgradePage } from './interface-page/interface-upgrade-page.ts';
import { code, link, page, table } from './markdown.ts';
import { upgradeFile, upgrades } from './upgrade-links.ts';

/** Every page, by its path in `docs/reference`. */
export function referencePages(): Map<string, string> {
  const contracts = readInterfaceContracts();
  const events = readHistory(eventsFolder);
  const pages = new Map([
    ['README.md', indexPage(contracts)],
    ['webhooks/README.md', deliveriesPage(events)],
    ['webhooks/findings.md', findingsPage()],
  ]);
  for (const contract of contracts) {
    const { name, history, versions } = contract;
    const of = `the ${name} interface`;
    for (const version of versions) {
      const subject = version.version;
      pages.set(`${name}/${subject}.md`, interfacePage(contract, version));
      pages.set(`${name}/${subject}.changelog.md`, changelogPage({ of, history, subject, root: '..' }));
    }
    for (const { from, to } of upgrades(versions)) {
      const differences = interfaceDifferences(packageFolder(name), from.version, to.version);
      pages.set(`${name}/${upgradeFile(from, to)}`, interfaceUpgradePage(contract, from, to, differences));
    }
  }
  for (const eventType of webhookEventTypes) {
    const { type, versions } = eventType;
    for (const version of versions) {
      const subject = `${type}/${version.version}`;
      const changelog = changelogPage({ of: type, history: events, subject, root: '../..' });
      pages.set(`webhooks/${subject}.md`, eventPage(events, eventType, version));
      pages.set(`webhooks/${subject}.changelog.md`, changelog);
    }
    for (const { from, to } of upgrades(versions))
      pages.set(`webhooks/${type}/${upgradeFile(from, to)}`, payloadUpgradePage(events, type, from, to));
  }
  return pages;
}

/** The page about what `verify` finds in a captured request, with an anchor for each code. */
function findingsPage(): string {
  return page('Findings', [
    `What \`deedwire-operator webhook verify\` and ${link('`deedwire-webhook-receiver verify`', '../../../packages/webhook-receiver/README.md')} find in a request whose signature a receiver rejects, and what to do. Names and numbers in these texts are examples.`,
    ...[...Map.groupBy(exampleFindings(names.headerPrefix), (finding) => finding.code)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([heading, findings]) => [
        `## ${heading}`,
        ...findings.map(({ problem, remedy }) => `**${problem}** ${remedy}`),
      ]),
  ]);
}

const folder = 'docs/reference';
const eventsReadme = `${eventsFolder}/README.md`;

/** The pages of `docs/reference`, and the table of event types in the README of `webhook-events`. */
export function reference(): Generated {
  const files = new Map(Array.from(referencePages(), ([path, text]) => [`${folder}/${path}`, text]));
  files.set(eventsReadme, withRegions(eventsReadme, { 'event types': eventTable() }));
  return { files, folders: [folder] };
}

function eventTable(): string {
  const rows = webhookEventTypes.flatMap(({ type, interfaces, versions }) =>
    versions.map(({ version, status }) => {
      const { properties } = readPayloadSchema(schemaPathOf(type, version));
      return [
        code(type),
        status === 'current' ? version : `${version}, ${status}`,
        interfaces.length > 1 ? 'both' : interfaces.join(),
        Object.entries(properties?.['data']?.properties ?? {})
          .map(([name, field]) => code(fieldSummary(name, field)))
          .join(', '),
      ];
    }),
  );
  return table(['type', 'version', 'interface', code('data')], rows, { isLastPadded: true });
}

/** For example `matter { id, reference }`. */
function fieldSummary(name: string, field: PayloadSchema): string {
  const inner = Object.entries(withoutNull(field).properties ?? {});
  if (inner.length === 0) return name;
  return `${name} { ${inner.map(([innerName, innerField]) => fieldSummary(innerName, innerField)).join(', ')} }`;
}
