import { ownMember, type JsonObject } from '../json/json-value.ts';
import type { Location } from '../location.ts';
import type { Place } from './comparison.ts';
import { schemas, type Schema, type SchemaDocument } from './schema-document.ts';

/** The places of a change at `path`, which is the path of a compared place or of a property in it. */
export function locateChange(
  from: SchemaDocument,
  to: SchemaDocument,
  place: Place,
  path: string,
): { readonly location: Location; readonly oldLocation: Location | null } {
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
  for (const schema of all.flatMap((each) => withTargets(document, each).toReversed())) {
    const found = document.locationOf(schema);
    if (found !== null) return found;
  }
  return null;
}

function locationOfProperty(document: SchemaDocument, all: readonly Schema[], name: string): Location | null {
  for (const schema of all.flatMap((each) => withTargets(document, each))) {
    for (const keyword of ['properties', 'patternProperties']) {
      const found = document.locationOf(schema, keyword, name);
      if (found !== null) return found;
    }
  }
  return null;
}

/** A schema, the schemas that it refers to, and the branches of its `allOf`, each once. */
function withTargets(document: SchemaDocument, schema: Schema): Schema[] {
  const found = [schema];
  for (const each of found) {
    const next = [...(document.target(each, '$ref') ?? []), ...branchesOf(each)];
    found.push(...next.filter((other) => !found.includes(other)));
  }
  return found;
}

function branchesOf(schema: JsonObject): readonly Schema[] {
  const branches = ownMember(schema, 'allOf');
  return Array.isArray(branches) ? branches.flatMap(schemas) : [];
}
