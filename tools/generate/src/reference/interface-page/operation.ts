import { getNamedType, type GraphQLField, isEnumType, isObjectType } from 'graphql';
import type { Example, Exchange } from '../examples.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { code, codeBlock, jsonBlock, link, oneLine, page } from '../markdown.ts';
import { operationPage, type Places } from './places.ts';
import { describeType, inputTable, type TargetOf, typeLink } from './type.ts';

export function operationHeading({ kind, operation }: Example): string {
  return `${kind} ${operation}`;
}

type Field = GraphQLField<unknown, unknown>;

/** The page of an operation, with the types that it alone has. */
export function describeOperation(
  { title, folder }: InterfaceContract,
  version: InterfaceVersion,
  places: Places,
  example: Example,
): string {
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
      `Returns ${typeLink(field.type, targetOf)}.${userErrorCodes(field, targetOf)}${price(version, example, overview)}`,
      '## Example',
      codeBlock('graphql', example.document),
      ...example.exchanges.flatMap(describeExchange),
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

/** A sentence about the user error codes of the payload. Empty if the operation has no user errors. */
function userErrorCodes(field: Field, targetOf: TargetOf): string {
  const payload = getNamedType(field.type);
  const errors = isObjectType(payload) ? payload.getFields()['userErrors'] : undefined;
  const error = errors && getNamedType(errors.type);
  const codes = isObjectType(error) ? getNamedType(error.getFields()['code']?.type) : undefined;
  if (!isEnumType(codes)) return '';
  const values = codes.getValues().map(({ name }) => code(name));
  return ` User error codes (${link('details', targetOf(codes))}): ${values.join(', ')}.`;
}
