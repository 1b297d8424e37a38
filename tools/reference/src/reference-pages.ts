import { webhookEventTypes } from '@deedwire/webhook-events';
import { deliveriesPage } from './deliveries-page.ts';
import { eventPage } from './event-page/event-page.ts';
import { indexPage } from './index-page.ts';
import { readInterfaceContracts } from './interface-contracts.ts';
import { interfacePage } from './interface-page/interface-page.ts';

/** Every page, by its path in `docs/reference`. */
export function referencePages(): Map<string, string> {
  const contracts = readInterfaceContracts();
  const pages = new Map([
    ['README.md', indexPage(contracts)],
    ['webhooks/README.md', deliveriesPage()],
  ]);
  for (const contract of contracts) {
    for (const version of contract.versions) {
      pages.set(`${contract.name}/${version.version}.md`, interfacePage(contract, version));
    }
  }
  for (const eventType of webhookEventTypes) {
    for (const version of eventType.versions) {
      pages.set(`webhooks/${eventType.type}/${version.version}.md`, eventPage(eventType, version));
    }
  }
  return pages;
}
