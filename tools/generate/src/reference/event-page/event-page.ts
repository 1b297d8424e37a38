import { type PayloadField, payloadFields, type PayloadSchema } from '@deedwire/core/payload-fields';
import { z } from 'zod';
import type { EventType, EventVersion } from '../../payloads/event-types.ts';
import { docsFolder } from '../../platform-folders.ts';
import { describeDifferences, describeUpgrade } from '../differences.ts';
import { describeAddition, releaseOf, type Remark, remarksOn } from '../history.ts';
import type { InterfaceContract } from '../interface-contracts.ts';
import { operationPage } from '../interface-page/places.ts';
import { statusExplanation } from '../lifecycle.ts';
import { code, codeBlock, jsonBlock, link, page, table } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';
import type { PublishedEvents } from '../published-events.ts';
import { upgradeGuides, upgradeIntroduction } from '../upgrade-links.ts';
import { exampleDelivery, exampleSecret } from './example-delivery.ts';
import { payloadDifferences, readPayloadSchema, schemaPathOf } from './payload-differences.ts';

/**
 * The page of one payload version of an event type.
 *
 * @param pathTo relative to the page
 */
export function eventPage(
  events: PublishedEvents,
  eventType: EventType,
  version: EventVersion,
  contracts: readonly InterfaceContract[],
  pathTo: PathTo,
): string {
  const { payloads, history, interfaceNames } = events;
  const { type, description, interfaces, versions } = eventType;
  const older = versions.findLast((candidate) => candidate.version < version.version);
  const subject = `${type}/${version.version}`;
  const schemaPath = schemaPathOf(payloads, type, version.version);
  const schema = readPayloadSchema(schemaPath);
  const fields = fieldsOf(`${type} at ${version.version}`, schema, remarksOn(history, subject));
  const links = [
    link('all versions', '../../README.md'),
    link('version lifecycle', pathTo(`${docsFolder}/versions.md`)),
    link('changelog', `${version.version}.changelog.md`),
    ...upgradeGuides(versions, version),
    link('deliveries', '../README.md'),
    link('JSON Schema', pathTo(schemaPath)),
    link('types and a parser', pathTo(payloads)),
  ];
  const isShared = interfaces.length === interfaceNames.length;
  const audience = isShared ? 'every interface' : `the ${interfaces.join(' and ')} interface`;
  const blocks = [
    statusExplanation(version),
    `${description} Available to subscriptions of ${audience}.`,
    causes(type, contracts),
    describeAddition(history, subject),
    `See also: ${links.join(' · ')}.`,
    '## Subscribe',
    'List it in `eventTypes` of `createWebhookSubscription` or `updateWebhookSubscription`:',
    pinOf(type, version),
    '## Body',
    jsonBlock(version.typical),
    `${presence(fields, version.body)} New fields can appear: ignore fields that you do not know. Deliveries can repeat: ${link('`webhook-id`', '../README.md#headers')} says how to recognize them.`,
    table(
      ['field', 'type', 'can be null', 'description'],
      fields.map((field) => [code(field.path), field.type, field.isNullable ? 'yes' : 'no', field.description]),
    ),
    ...(older === undefined
      ? []
      : describeDifferences(
          older.version,
          payloadDifferences(schemaPathOf(payloads, type, older.version), schemaPath),
        )),
    '## Delivery',
    `The same event as an HTTP request. See ${link('all headers', '../README.md#headers')}. Both signatures verify with the secret ${code(exampleSecret)}.`,
    exampleDelivery(events, version),
    typesInTypeScript(history.packageName, type, version.version, schema.title),
  ];
  return page(`${type}, ${version.version}`, blocks, schemaPath);
}

/**
 * How to move subscriptions from one payload version of an event type to a newer one.
 *
 * @param pathTo relative to the page
 */
export function payloadUpgradePage(
  { payloads, history }: PublishedEvents,
  type: string,
  { from, to }: { from: EventVersion; to: EventVersion },
  pathTo: PathTo,
): string {
  const release = releaseOf(history, `${type}/${to.version}`, null);
  return page(`Upgrade ${type} from ${from.version} to ${to.version}`, [
    ...upgradeIntroduction({ prefix: `${type}, `, pathTo }, from, to, [
      `Install ${code(history.packageName)} ${release === null ? 'in its next release' : `${release} or later`}. Handle both versions, according to ${code('version')} in the body, and deploy.`,
      `Pin ${to.version} with ${code('updateWebhookSubscription')}. It replaces the whole list: name the other event types of the subscription too. Deliveries that already exist keep ${from.version}.`,
      `Remove the code for ${from.version} once these deliveries have arrived.`,
    ]),
    pinOf(type, to),
    ...describeUpgrade(
      payloadDifferences(schemaPathOf(payloads, type, from.version), schemaPathOf(payloads, type, to.version)),
    ),
    '## Body before',
    jsonBlock(from.typical),
    '## Body after',
    jsonBlock(to.typical),
  ]);
}

/** A sentence about the mutations whose examples cause an event. Empty if there are none. */
function causes(type: string, contracts: readonly InterfaceContract[]): string {
  const links = contracts.flatMap(({ name, versions }) => {
    const newest = versions.findLast(({ status }) => status === 'current');
    if (newest === undefined) return [];
    return newest.examples
      .filter(({ events }) => events.includes(type))
      .map((example) => {
        const target = `../../${name}/${operationPage(newest.version, example)}`;
        return `${link(code(example.operation), target)} of the ${name} interface`;
      });
  });
  return links.length === 0 ? '' : `Caused by ${links.join(' and ')}.`;
}

function pinOf(type: string, { version }: EventVersion): string {
  return codeBlock('graphql', `eventTypes: [{ type: "${type}", version: "${version}" }]`);
}

/**
 * Which fields a body can lack: those that are optional in the contract. Of a later release, one with `.exactOptional()` is in every newer
 * body.
 */
export function presence(fields: readonly PayloadField[], body: z.core.$ZodType): string {
  const optional = fields.filter(({ isOptional }) => isOptional);
  const isAdded = ({ path, isAddedLater }: PayloadField): boolean =>
    isAddedLater && memberAt(body, path.replaceAll('[*]', '').split('.')) instanceof z.ZodExactOptional;
  const pathsOf = (areAdded: boolean): string[] =>
    optional.filter((field) => isAdded(field) === areAdded).map(({ path }) => code(path));
  const [absent, added] = [pathsOf(false), pathsOf(true)] as const;
  const [verb, pronoun] = added.length > 1 ? ['were', 'them'] : ['was', 'it'];
  const exceptions = [
    ...(absent.length === 0 ? [] : [`${absent.join(' and ')} can be absent`]),
    ...(added.length === 0 ? [] : [`bodies from before ${added.join(' and ')} ${verb} added lack ${pronoun}`]),
  ];
  if (exceptions.length === 0) return 'Every field is always present.';
  return `Every field is always present, except that ${exceptions.join(', and ')}.`;
}

/** The member of an object, or of the items of an array, at a path. */
function memberAt(schema: z.core.$ZodType | undefined, path: readonly string[]): z.core.$ZodType | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return schema;
  if (schema instanceof z.ZodObject) return memberAt(schema.shape[name], rest);
  if (schema instanceof z.ZodArray) return memberAt(schema.element, path);
  const isWrapper =
    schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
  return isWrapper ? memberAt(schema.unwrap(), path) : undefined;
}

/** @throws {Error} that names the version and the field, if the reference cannot show the schema */
function fieldsOf(name: string, schema: PayloadSchema, remark: Remark): PayloadField[] {
  try {
    return payloadFields(schema, remark);
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function typesInTypeScript(packageName: string, type: string, version: string, name: string | undefined): string {
  if (name === undefined) throw new Error(`the JSON Schema of ${type} ${version} has no title`);
  const source = `import type { ${name} } from '${packageName}/${type}/${version}';`;
  return `In TypeScript:\n\n${codeBlock('ts', source)}`;
}
