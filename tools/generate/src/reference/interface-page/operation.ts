import { getNamedType, type GraphQLField, isEnumType, isObjectType } from 'graphql';
import { docsFolder } from '../../platform-folders.ts';
import type { Example, Exchange } from '../examples.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { code, codeBlock, jsonBlock, link, oneLine, page } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';
import { eventLink, type PublishedEvents } from '../published-events.ts';
import { operationPage, type Places } from './places.ts';
import { curlCommand } from './requests.ts';
import { describeType, inputTable, type TargetOf, typeLink } from './type.ts';

export function operationHeading({ kind, operation }: Example): string {
  return `${kind} ${operation}`;
}

type Field = GraphQLField<unknown, unknown>;

/** The page of an operation, with the types that it alone has. */
export function describeOperation(
  contract: InterfaceContract,
  version: InterfaceVersion,
  events: PublishedEvents,
  places: Places,
  example: Example,
  pathTo: PathTo,
): string {
  const { title, folder } = contract;
  const path = operationPage(version.version, example);
  const targetOf = places.from(path);
  const field = fieldOf(version, example);
  const overview = `../${version.version}.md`;
  return page(
    operationHeading(example),
    [
      `Of the ${link(`${title} interface, ${version.version}`, overview)}.`,
      oneLine(field.description ?? ''),
      inputTable('argument', field.args, targetOf),
      `Returns ${typeLink(field.type, targetOf)}.${userErrorCodes(field, targetOf, pathTo)}${price(version, example, overview)}`,
      `Every operation can return ${link('these errors', `${overview}#errors`)} too: ${link('what to do', pathTo(`${docsFolder}/errors.md`))}.`,
      causedEvents(example, events),
      '## Example',
      codeBlock('graphql', example.document),
      ...example.exchanges.flatMap(describeExchange),
      '## With curl',
      `\`DEEDWIRE_URL\` is the URL of the interface. The other variables are ${link('your credentials', `${overview}#requests`)}.`,
      codeBlock('sh', curlCommand(contract, version, example)),
      ...places.of(path).flatMap((type) => describeType(type, targetOf)),
    ],
    `${folder}/versions/${version.version}.*`,
  );
}

export function fieldOf({ schema }: InterfaceVersion, { kind, operation }: Example): Field {
  const field = schema.getRootType(kind)?.getFields()[operation];
  if (field === undefined) throw new Error(`The schema has no ${kind} ${operation}.`);
  return field;
}

/** Sentences about what the root field needs and costs. Those of its fields are on the page of the version. */
function price({ schema, manifest }: InterfaceVersion, { kind, operation }: Example, overview: string): string {
  const coordinate = `${schema.getRootType(kind)?.name}.${operation}`;
  const needed = manifest.abilities[coordinate] ?? [];
  const weight = manifest.costWeights[coordinate];
  return [
    needed.length === 0
      ? ''
      : ` Needs ${link('the ability', `${overview}#abilities`)} ${needed.map(code).join(' and ')}.`,
    weight === undefined ? '' : ` Weight in ${link('the cost', `${overview}#costs`)}: ${weight.toLocaleString('en')}.`,
  ].join('');
}

/** @throws {Error} if the response has not been recorded */
export function describeExchange({ result, variables, responsePath, response }: Exchange): string[] {
  if (response === null) {
    throw new Error(`${responsePath} is missing: run \`vitest run --project integration /examples.test.ts -u\``);
  }
  return [
    ...(Object.keys(variables).length > 0 ? ['Variables:', jsonBlock(variables)] : []),
    result === 'success' ? 'Response:' : 'Response with user errors:',
    jsonBlock(response),
  ];
}

/** A sentence about the events that the example caused. Empty if it caused none. */
function causedEvents({ events: caused }: Example, events: PublishedEvents): string {
  const links = caused.map((type) => eventLink(events, type, '../../webhooks/'));
  return links.length === 0 ? '' : `Causes the webhook event ${links.join(' and ')}.`;
}

/** A sentence about the user error codes of the payload. Empty if the operation has no user errors. */
function userErrorCodes(field: Field, targetOf: TargetOf, pathTo: PathTo): string {
  const payload = getNamedType(field.type);
  const errors = isObjectType(payload) ? payload.getFields()['userErrors'] : undefined;
  const error = errors && getNamedType(errors.type);
  const codes = isObjectType(error) ? getNamedType(error.getFields()['code']?.type) : undefined;
  if (!isEnumType(codes)) return '';
  const values = codes.getValues().map(({ name }) => code(name));
  return ` User error codes (${link('details', targetOf(codes))}, ${link('what to do', pathTo(`${docsFolder}/user-errors.md`))}): ${values.join(', ')}.`;
}
