import type { ListedVersion } from '../event-versions.ts';
import { docsFolder } from '../platform-folders.ts';
import { eventTypeTable } from './deliveries-page.ts';
import type { InterfaceContract } from './interface-contracts.ts';
import { statusSummary } from './lifecycle.ts';
import { code, link, page, table } from './markdown.ts';
import type { PathTo } from './path-to.ts';
import type { PublishedEvents } from './published-events.ts';
import { upgradeFile, upgrades } from './upgrade-links.ts';

// Constants in the packages `actions` (live keys), `auth`, `graphql-server` (portal), `webhooks` (lane), `webhook-sender` (exchange) and
// `service-runtime` (http-limits, send-response), in this order. A test in `contract-tests` compares those of http-limits.
const installationLimits = [
  ['Live API keys of a client', '5'],
  ['Requests of an address without a valid API key', '50 per second'],
  ['Pages and files of the portal, and states of its session, that an address gets', '200, restored at 20 per second'],
  ['Concurrent requests to the callback URL of a subscription', '16'],
  ['Bytes that are read from the response of a callback URL', '65,536'],
  ['Size of the request line and all headers of a request', '16,384 bytes'],
  ['Time in which the headers of a request must arrive', '10,000 ms'],
  ['Time in which a whole request must arrive', '20,000 ms'],
  ['Time without any traffic after which a connection is closed during a request', '30,000 ms'],
  ['Time after which an idle connection is closed (settable)', '65,000 ms'],
  ['Requests on a connection', '10,000'],
  ['Open connections of a server (settable)', '10,000'],
  ['Open connections of an address without a valid API key (settable)', '100'],
  ['Open connections of a client (settable)', '200'],
  ['Requests of a connection that are handled at the same time before one had a valid API key', '8'],
  ['Bytes and time for which an unread body is read after the response', '65,536 in 2,000 ms'],
];

/**
 * The index of all versions with their statuses.
 *
 * @param pathTo relative to the page
 */
export function indexPage(contracts: readonly InterfaceContract[], events: PublishedEvents, pathTo: PathTo): string {
  const rows = contracts.flatMap(({ name, folder, path, history, versions }) =>
    versions.map((version) => [
      name,
      link(version.version, `${name}/${version.version}.md`),
      statusSummary(version),
      link('changelog', `${name}/${version.version}.changelog.md`),
      code(`POST ${path}`),
      link(history.packageName, pathTo(folder)),
    ]),
  );
  return page('Reference', [
    `A page for each version of each interface, with one for each of its operations, and for each version of a webhook payload. They name the release that added each element, and have a changelog. ${link('Version lifecycle', pathTo(`${docsFolder}/versions.md`))} explains the statuses and how to migrate to a newer version.`,
    '## Interfaces',
    table(['interface', 'version', 'status', 'changes', 'endpoint', 'package'], rows),
    '## Webhook events',
    `${link('Webhook deliveries', 'webhooks/README.md')} describes what all deliveries share: headers, signatures, the handshake, retries.`,
    eventTypeTable(events, 'webhooks/'),
    ...upgradeSection(contracts, events),
    '## Errors',
    `${link('Error codes', pathTo(`${docsFolder}/errors.md`))} lists the codes of the interfaces, and ${link('Findings', 'webhooks/findings.md')} why the signature of a webhook does not verify.`,
    '## Limits',
    'The page of each interface version lists the limits that are part of its contract. These are limits of the installation, which can change without a new version:',
    table(['limit', 'value'], installationLimits),
  ]);
}

/** Links to every upgrade guide. Empty while each interface and each event type has one version. */
function upgradeSection(contracts: readonly InterfaceContract[], { types }: PublishedEvents): string[] {
  const sources = [
    ...contracts.map(({ name, versions }) => ({ subject: `${name} interface`, folder: name, versions })),
    ...types.map(({ type, versions }) => ({ subject: code(type), folder: `webhooks/${type}`, versions })),
  ];
  const rows = sources.flatMap(({ subject, folder, versions }) =>
    upgrades<ListedVersion>(versions).map(({ from, to }) => [
      subject,
      link(`${from.version} to ${to.version}`, `${folder}/${upgradeFile(from, to)}`),
    ]),
  );
  return rows.length === 0 ? [] : ['## Upgrade guides', table(['of', 'guide'], rows)];
}
