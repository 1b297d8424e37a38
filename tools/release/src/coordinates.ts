import { parse } from 'graphql';
import { mapElements } from './sdl-elements.ts';

/**
 * The elements of a contract file, named as `contract-check` names them:
 *
 * - SDL: schema coordinates, `Query.customer(id:)`.
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
  const coordinates: string[] = [];
  mapElements(parse(sdl), (_, coordinate) => void coordinates.push(coordinate));
  return coordinates;
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
