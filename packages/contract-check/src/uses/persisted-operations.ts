import { JsonNumber, isJsonObject, ownMember } from '../json/json-value.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';

/**
 * The operations of a manifest, each with the name of the file and its id: that of Apollo, or an object from hashes to texts, which
 * Relay and the client preset of GraphQL Code Generator write.
 */
export function persistedOperations(source: SourceText): SourceText[] {
  const document = parseJson(source);
  const { value } = document;
  const format = ownMember(value, 'format');
  const operations = new Map<string, string>();
  const add = (pointer: string, id: unknown, text: unknown): void => {
    if (typeof id !== 'string' || typeof text !== 'string') failIn(document, pointer, 'must have an id and a body');
    if (operations.has(id)) failIn(document, pointer, `has the id ${JSON.stringify(id)} of another operation`);
    operations.set(id, text);
  };
  if (format === 'apollo-persisted-query-manifest') {
    const [version, list] = [ownMember(value, 'version'), ownMember(value, 'operations')];
    if (!(version instanceof JsonNumber) || String(version) !== '1')
      failIn(document, '/version', 'must be 1: other versions of the format are not read');
    if (!Array.isArray(list)) failIn(document, '/operations', 'must be an array');
    for (const [index, each] of list.entries())
      add(`/operations/${index}`, ownMember(each, 'id'), ownMember(each, 'body'));
  } else if (isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string'))
    for (const [hash, text] of Object.entries(value)) add('', hash, text);
  else
    failIn(
      document,
      '',
      'is no manifest of persisted operations. Read are apollo-persisted-query-manifest, and objects from hashes to texts, as Relay and the client preset of GraphQL Code Generator write them',
    );
  return [...operations].map(([id, text]) => ({ file: `${source.file}: operation ${JSON.stringify(id)}`, text }));
}
