import type { WebhookEventVersion } from '@deedwire/webhook-events';
import { describeUpgrade } from '../differences.ts';
import { type History, releaseOf } from '../history.ts';
import { code, codeBlock, jsonBlock, page } from '../markdown.ts';
import { upgradeIntroduction } from '../upgrade-links.ts';
import { payloadDifferences, readTypicalBody, schemaPathOf } from './payload-fields.ts';

/** How to move subscriptions from one payload version of an event type to a newer one. */
export function payloadUpgradePage(
  history: History,
  type: string,
  from: WebhookEventVersion,
  to: WebhookEventVersion,
): string {
  const release = releaseOf(history, `${type}/${to.version}`, null);
  const pin = `eventTypes: [{ type: "${type}", version: "${to.version}" }]`;
  return page([
    ...upgradeIntroduction({ subject: type, prefix: `${type}, `, versionsPage: '../../../versions.md' }, from, to, [
      `Install ${code(history.packageName)} ${release === null ? 'in its next release' : `${release} or later`}. Handle both versions, according to ${code('version')} in the body, and deploy.`,
      `Pin ${to.version} with ${code('updateWebhookSubscription')}. It replaces the whole list: name the other event types of the subscription too. Deliveries that already exist keep ${from.version}.`,
      `Remove the code for ${from.version} once these deliveries have arrived.`,
    ]),
    codeBlock('graphql', pin),
    ...describeUpgrade(payloadDifferences(schemaPathOf(type, from.version), schemaPathOf(type, to.version))),
    '## Body before',
    jsonBlock(readTypicalBody(type, from.version)),
    '## Body after',
    jsonBlock(readTypicalBody(type, to.version)),
  ]);
}
