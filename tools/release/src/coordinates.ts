import {
  isTypeDefinitionNode,
  Kind,
  parse,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
} from 'graphql';

/**
 * The elements of a contract file, named as `contract-check` names them:
 *
 * - SDL: schema coordinates, `Query.lender(id:)`.
 * - JSON Schema: paths into the body, `$.data.id`.
 * - A manifest, or another JSON file: JSON Pointers of the members of its sections, `/limits/queryDepth`.
 *
 * @param path path in the package
 */
export function coordinatesOf(path: string, text: string): Set<string> {
  if (path.endsWith('.graphql')) return new Set(sdlCoordinates(text));
  const document: unknown = JSON.parse(text);
  if (path.startsWith('json-schema/')) return new Set(schemaCoordinates(document, '$'));
  return new Set(sectionCoordinates(document));
}

function sdlCoordinates(sdl: string): string[] {
  return parse(sdl).definitions.flatMap((definition) => {
    if (definition.kind === Kind.DIRECTIVE_DEFINITION) return [`@${definition.name.value}`];
    if (!isTypeDefinitionNode(definition)) return [];
    const name = definition.name.value;
    if ('values' in definition) return [name, ...members(name, definition.values)];
    if (!('fields' in definition)) return [name];
    const fields: readonly Field[] = definition.fields ?? [];
    return [name, ...fields.flatMap((field) => [`${name}.${field.name.value}`, ...argumentsOf(name, field)])];
  });
}

type Field = FieldDefinitionNode | InputValueDefinitionNode;

function argumentsOf(type: string, field: Field): string[] {
  const list = 'arguments' in field ? (field.arguments ?? []) : [];
  return list.map(({ name }) => `${type}.${field.name.value}(${name.value}:)`);
}

function members(type: string, of: readonly EnumValueDefinitionNode[] = []): string[] {
  return of.map(({ name }) => `${type}.${name.value}`);
}

function schemaCoordinates(schema: unknown, path: string): string[] {
  return Object.entries(membersOf(membersOf(schema)['properties'])).flatMap(([name, field]) => [
    `${path}.${name}`,
    ...schemaCoordinates(field, `${path}.${name}`),
  ]);
}

function sectionCoordinates(document: unknown): string[] {
  return Object.entries(membersOf(document)).flatMap(([section, entries]) =>
    Object.keys(membersOf(entries)).map((name) => `/${section}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
