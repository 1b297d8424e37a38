import { webhookEventTypes } from '@deedwire/webhook-events';
import { changelogPage } from './changelog-page.ts';
import { deliveriesPage } from './deliveries-page.ts';
import { eventsFolder } from './event-page/event-files.ts';
import { eventPage } from './event-page/event-page.ts';
import { payloadUpgradePage } from './event-page/payload-upgrade-page.ts';
import { indexPage } from './index-page.ts';
import { readInterfaceContracts } from './interface-contracts.ts';
import { interfacePage } from './interface-page/interface-page.ts';
import { interfaceUpgradePage } from './interface-page/interface-upgrade-page.ts';
import { readHistory } from './read-history.ts';
import { upgradeFile, upgrades } from './upgrade-links.ts';

/** Every page, by its path in `docs/reference`. */
export function referencePages(): Map<string, string> {
  const contracts = readInterfaceContracts();
  const events = readHistory(eventsFolder);
  const pages = new Map([
    ['README.md', indexPage(contracts)],
    ['webhooks/README.md', deliveriesPage(events)],
  ]);
  for (const contract of contracts) {
    const { name, history } = contract;
    for (const version of contract.versions) {
      const path = `${name}/${version.version}`;
      const title = `the ${name} interface, ${version.version}`;
      const subject = version.version;
      pages.set(`${path}.md`, interfacePage(contract, version));
      pages.set(
        `${path}.changelog.md`,
        changelogPage({ title, history, subject, versionPage: `${version.version}.md`, root: '..' }),
      );
    }
    for (const { from, to } of upgrades(contract.versions)) {
      pages.set(`${name}/${upgradeFile(from, to)}`, interfaceUpgradePage(contract, from, to));
    }
  }
  for (const eventType of webhookEventTypes) {
    const folder = `webhooks/${eventType.type}`;
    for (const version of eventType.versions) {
      const title = `${eventType.type}, ${version.version}`;
      const subject = `${eventType.type}/${version.version}`;
      pages.set(`${folder}/${version.version}.md`, eventPage(events, eventType, version));
      pages.set(
        `${folder}/${version.version}.changelog.md`,
        changelogPage({ title, history: events, subject, versionPage: `${version.version}.md`, root: '../..' }),
      );
    }
    for (const { from, to } of upgrades(eventType.versions)) {
      pages.set(`${folder}/${upgradeFile(from, to)}`, payloadUpgradePage(events, eventType.type, from, to));
    }
  }
  return pages;
}
