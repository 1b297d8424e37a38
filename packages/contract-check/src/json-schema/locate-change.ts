import type { Location, Places } from '../change.ts';
import type { Place } from './comparison.ts';
import { listMember } from './conjunction.ts';
import { schemas, type Schema, type SchemaDocument } from './schema-document.ts';

/** The places of a change at `path`, which is the path of a compared place or of a property in it. */
export function locateChange(from: SchemaDocument, to: SchemaDocument, place: Place, path: string): Places {
  const [around, aroundOld] = [locationOfAny(to, place.to), locationOfAny(from, place.from)];
  const root = locationOfAny(to, to.root) ?? { file: to.file, line: 1 };
  if (path === place.path) return { location: around ?? root, oldLocation: aroundOld };
  const name = propertyName(path.slice(place.path.length));
  return {
    location: locationOfProperty(to, place.to, name) ?? around ?? root,
    oldLocation: locationOfProperty(from, place.from, name),
  };
}

/** The name at the end of a path: `.name`, `["a name"]` or `[/pattern/]`. */
function propertyName(step: string): string {
  if (step.startsWith('["')) {
    const name: unknown = JSON.parse(step.slice(1, -1));
    return String(name);
  }
  return step.startsWith('[/') ? step.slice(2, -2) : step.slice(1);
}

function locationOfAny(document: SchemaDocument, all: readonly Schema[]): Location | null {
  const candidates = all.flatMap((each) => withTargets(document, each).toReversed());
  return firstOf(candidates.map((schema) => document.locationOf(schema)));
}

function locationOfProperty(document: SchemaDocument, all: readonly Schema[], name: string): Location | null {
  const candidates = all.flatMap((each) => withTargets(document, each));
  const keywords = ['properties', 'patternProperties'];
  return firstOf(candidates.flatMap((schema) => keywords.map((each) => document.locationOf(schema, each, name))));
}

function firstOf(found: readonly (Location | null)[]): Location | null {
  return found.find((location) => location !== null) ?? null;
}

/** A schema, the schemas that it refers to, and the branches of its `allOf`, each once. */
function withTargets(document: SchemaDocument, schema: Schema): readonly Schema[] {
  const found = new Set([schema]);
  // Appended to during the loop.
  for (const each of found)
    for (const next of [...(document.target(each, '$ref') ?? []), ...listMember(each, 'allOf').flatMap(schemas)])
      found.add(next);
  return [...found];
}
