import { fileNotice, type Notice } from '../change.ts';
import { childPointer, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { objectMember } from './conjunction.ts';
import { innerSchemas, isDocumentation, naming } from './keywords.ts';
import { referenceKeywords, type Schema, type SchemaDocument } from './schema-document.ts';
import { areWrittenAlike } from './written-alike.ts';

/** The definitions in the root, by the reference to them: `#/$defs/money`. */
export function definitionsIn({ root: [root = {}] }: SchemaDocument): ReadonlyMap<string, JsonValue> {
  return new Map(
    ['$defs', 'definitions'].flatMap((keyword) =>
      Object.entries(objectMember(root, keyword)).map(([name, value]) => [childPointer(`#/${keyword}`, name), value]),
    ),
  );
}

/** Whether the root allows every value, so that the definitions in it are all that a schema promises. */
export function onlyDefines({ root }: SchemaDocument): boolean {
  return root
    .flatMap((schema) => Object.keys(schema))
    .every((keyword) => naming.has(keyword) || isDocumentation(keyword));
}

/** States which definitions changed that the root does not reach. Other files can refer to them. */
export function unreachedNotices(from: SchemaDocument, to: SchemaDocument): Notice[] {
  const now = definitionsIn(to);
  const reached = reachedIn(from);
  const changed = [...definitionsIn(from)].filter(([path, old]) => {
    const next = now.get(path);
    if (!isJsonObject(old) || reached.has(old)) return false;
    return !isJsonObject(next) || !areWrittenAlike(from, old, to, next);
  });
  const paths = changed.map(([path]) => path).join(', ');
  const message = `The root of the schema does not reach ${paths}, so changes there were not compared.`;
  return changed.length === 0 ? [] : [fileNotice(to.file, message)];
}

function reachedIn(document: SchemaDocument): ReadonlySet<Schema> {
  const found = new Set<Schema>(document.root);
  // Appended to during the loop.
  for (const schema of found) {
    for (const keyword of referenceKeywords) for (const each of document.target(schema, keyword) ?? []) found.add(each);
    for (const [keyword, value] of Object.entries(schema))
      for (const [, inner] of naming.has(keyword) ? [] : innerSchemas(keyword, value))
        if (isJsonObject(inner)) found.add(inner);
  }
  return found;
}
