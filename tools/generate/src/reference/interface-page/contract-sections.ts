import { docsFolder } from '../../platform-folders.ts';
import { descriptionOf, limitValue, ownDescriptions, readLimitDescriptions } from '../descriptions.ts';
import { readErrorPage } from '../error-page.ts';
import type { Remark } from '../history.ts';
import type { Manifest } from '../manifest.ts';
import { anchor, code, jsonBlock, link, table } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';

/** The error codes, with the HTTP statuses of a response without `data`. */
export function describeErrors({ errors }: Manifest, remark: Remark, pathTo: PathTo): string[] {
  const meanings = Object.fromEntries(readErrorPage().map((documented) => [documented.code, documented.meaning]));
  const rows = Object.entries(errors).map(([name, { status }]) => [
    link(code(name), pathTo(`${docsFolder}/errors.md`) + anchor(name)),
    String(status['application/graphql-response+json']),
    String(status['application/json']),
    descriptionOf(meanings, name) + remark(`/errors/${name}`, null),
  ]);
  return [
    '## Errors',
    'An error has a `message` for people. Its `extensions` contain a `code` for programs, the `requestId` and, if the operator has set one, a `documentationUrl`. The HTTP status of a response without `data` depends on the media type. A response with `data` in which one field failed has status 200. New codes can appear: handle an unknown code by its HTTP status. If a mutation rejects its input, the reasons are in the `userErrors` of its payload.',
    table(['code', '`graphql-response+json`', '`json`', 'meaning'], rows),
  ];
}

/** What fields need, under their coordinates in the manifest. */
export function describeAbilities({ abilities }: Manifest, remark: Remark): string[] {
  const rows = Object.entries(abilities).map(([coordinate, needed]) => [
    code(coordinate),
    needed.map(code).join(', ') + remark(`/abilities/${coordinate}`, null),
  ]);
  return [
    '## Abilities',
    'An API key has abilities, and so has a session of the portal. An operation needs the abilities of all fields of its document, including of those that `@skip` or `@include` excludes, and is rejected with `FORBIDDEN` if one is missing; the message names it. Every key and every session has `READ`. Fields that are not listed need nothing further.',
    table(['field', 'abilities'], rows),
  ];
}

/**
 * The limits, under their names in the manifest.
 *
 * @param contract the folder of the contract
 */
export function describeLimits({ limits, pagination }: Manifest, remark: Remark, contract: string): string[] {
  const descriptions = readLimitDescriptions(contract);
  const { firstMinimum, firstMaximum, firstDefault } = pagination;
  const rows = Object.entries(limits).map(([name, value]) => [
    code(name),
    limitValue(name, value),
    descriptionOf(descriptions, name, ownDescriptions(contract)) + remark(`/limits/${name}`, null),
  ]);
  return [
    '## Limits',
    `A limit never becomes stricter within a version, except to protect the service; the changelog of the version lists such a change. \`first\` of a list is ${firstMinimum} to ${firstMaximum} and defaults to ${firstDefault}.`,
    table(['name', 'value', 'description'], rows),
  ];
}

const rules = `Before an operation runs, it is charged the largest cost that its response can have, \`requestedQueryCost\`. An operation above the limit is rejected with \`OPERATION_TOO_COMPLEX\`; the message names the most expensive field. After it ran, it costs \`actualQueryCost\`, which counts the items that were returned, and the rest is refunded. The extensions of each response with \`data\` contain both:`;

const example = {
  extensions: {
    cost: {
      requestedQueryCost: 26,
      actualQueryCost: 5,
      throttleStatus: { maximumAvailable: 2000, currentlyAvailable: 1995, restoreRate: 200 },
    },
  },
};

const sums = `The cost is a sum, rounded up to whole points, at least 1:

- Each object costs 1 point, and each other field 0.03 points, unless the table below lists a weight. In a list, each item counts with its fields. The weight of a mutation field pays for the work of the mutation.
- A connection has as many items as its \`first\`, or its list size if that is smaller. A list with an argument \`ids\` or \`first\` has as many items as it, at most its list size. Other lists of objects have their list size.
- The values of a field with a page maximum cost at most so much together in a page, however many there are.
- Fields of the same name in one selection set count once, as in the response. A fragment counts where it is spread. A field that \`@skip\` or \`@include\` excludes does not count as an item.
- A field of the document that is not executed costs 0.03 points: it belongs to another operation, is skipped, or repeats another field.
- \`__schema\` and \`__type\` cost 1 point per 1,000 bytes in \`actualQueryCost\`. An operation with one of them has the largest \`requestedQueryCost\`, 1,000 points, because only the response shows its size.
- Of \`responseBody\` and \`responseBodyBase64\` of an exchange, at most one has a value, so only the more expensive one counts, and the other as a field without a weight.
- An alias costs 0.03 points, and 0.001 for each character by which it is longer than the name of its field.
- A dry run of \`replayWebhookEvents\` costs another point in \`actualQueryCost\` for each 200 deliveries that it reads: those of its range, at most 100,001, even if it names event types or sequences, which have no index. With them, an operation costs at most 1,000 points.

In \`actualQueryCost\`, a text with a weight costs 0.03 points and 0.001 for each character, at most its weight, and 0.03 points if it is null. If it has characters with several bytes in JSON, each byte costs 0.001, even beyond its weight, so that \`actualQueryCost\` can be more than \`requestedQueryCost\`; your client then owes the difference. An object that is null costs its weight, without the fields below it. If an error in a field made it null, its other fields cost what they could have cost, because the server has read them. Each item of a page whose \`edges\` and \`nodes\` you do not select costs 0.5 points, even beyond \`requestedQueryCost\`.

\`webhookDeliveries\` with an \`eventType\` costs another point in \`actualQueryCost\` for each 20 deliveries that were read to find those of the type. With it, an operation costs at most 1,000 points.

\`webhookDeliveries\`, and \`deliveries\` of a subscription, read the history in parts of 4 to 14 days, the newest first, until the page is full. Each part after the first costs 10 points in \`actualQueryCost\`, and an operation at most 1,000 points with them. A page that is full soon costs nothing more; \`since\` keeps a page with few deliveries from reading all days.

While a request of \`webhookEvents\` waits, it holds no points but those for reading it. The others are taken again when the wait ends, even if the bucket holds fewer, and refunded as always. If the event after a cursor is not found at once, a search costs another 500 points in \`actualQueryCost\`; that happens if Deedwire did not return the cursor.`;

function readingRules({ limits }: Manifest): string {
  const value = (name: string): string => {
    const limit = limits[name];
    if (limit === undefined) throw new Error(`The manifest has no limit ${name}.`);
    return (typeof limit === 'number' ? limit : limit.value).toLocaleString('en');
  };
  return `Reading a request has a price, too. An operation costs at least 1 point for each ${value('requestBodyBytesPerPoint')} bytes of the request body. With a document that the server has not read before or no longer remembers, it costs at least 1 point for each ${value('queryBytesPerPoint')} bytes of \`query\`. The largest of the three prices applies, not their sum, and \`extensions.cost\` contains it.

A rejected document (\`GRAPHQL_PARSE_FAILED\`, \`GRAPHQL_VALIDATION_FAILED\`, or \`OPERATION_TOO_COMPLEX\` because of a limit other than the cost) costs 1 point for each ${value('rejectedQueryBytesPerPoint')} bytes of \`query\`, at least ${value('rejectedQueryMinimumPoints')} and at most ${value('operationCostPoints')}. While the server remembers it, it costs no more than a new document that is accepted. Variables that are rejected (\`BAD_USER_INPUT\`) cost as much as a rejected document of the size of the request body. Other rejected requests cost what reading them costs, except those with \`RATE_LIMITED\`, which cost nothing. All sizes are in bytes of UTF-8, and all prices are rounded up.`;
}

/** The costs, under their coordinates in the manifest. */
export function describeCosts(manifest: Manifest): string[] {
  const { costWeights, costListSizes, costPageMaximums, pagination } = manifest;
  const coordinates = [...new Set([...Object.keys(costWeights), ...Object.keys(costListSizes)])].toSorted();
  const rows = coordinates.map((coordinate) => [
    code(coordinate),
    costWeights[coordinate]?.toLocaleString('en') ?? '',
    costListSizes[coordinate]?.toLocaleString('en') ?? '',
    costPageMaximums[coordinate]?.toLocaleString('en') ?? '',
  ]);
  return [
    '## Costs',
    rules,
    jsonBlock(example),
    sums,
    `A list size of a connection that is not listed is ${pagination.firstMaximum}.`,
    table(['field', 'weight', 'list size', 'page maximum'], rows),
    readingRules(manifest),
  ];
}
