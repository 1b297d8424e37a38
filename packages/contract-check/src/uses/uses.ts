import { resolve, sep } from 'node:path';
import { print, type DefinitionNode } from 'graphql';
import { compareText } from '../change.ts';
import type { UsedFile, Uses } from '../environment/generated/files.ts';
import { readGraphqlSchema } from '../graphql/read-contract.ts';
import { ifValid } from '../input-error.ts';
import { ownMember } from '../json/json-value.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import { jsonObjectIn } from '../source/project.ts';
import { splitPlace } from '../source/read-source.ts';
import { sha256Of, type SourceText } from '../text-file.ts';
import { coordinatesOf } from './coordinates.ts';
import { readDocuments } from './read-documents.ts';

/**
 * What a consumer sends and receives.
 *
 * @param documents patterns of files with operations and fragments. Empty, as `schema`, if it uses no GraphQL
 * @param events the JSON Schemas of those that it handles
 * @param ignoredDirectives those that only this consumer knows
 */
export function usesOf(
  consumer: string,
  schema: readonly SourceText[],
  documents: readonly string[],
  events: readonly SourceText[],
  ignoredDirectives: readonly string[],
): { uses: Uses; notice: string | null } {
  const files = schema.map(usedFile);
  const [, pin = null] = files.length === 1 ? (/^versions\/([^/]+)\.graphql$/.exec(files[0]?.file ?? '') ?? []) : [];
  const { expandedBy, ...sent } =
    documents.length === 0
      ? { coordinates: {}, operations: [], expandedBy: null }
      : usesOfDocuments(schema, documents, ignoredDirectives);
  const uses: Uses = {
    formatVersion: 1,
    consumer,
    pin,
    schema: files,
    ...sent,
    events: events
      .map((source) => ({ event: eventOf(source), ...usedFile(source) }))
      .toSorted((a, b) => compareText(a.event, b.event)),
  };
  const notice =
    expandedBy &&
    `The client sends more than its documents contain (they have @${expandedBy}), such as ids and queries of pages. That is missing here, so can-i-deploy does not ask about it: pass persisted operations.`;
  return { uses, notice };
}

function usesOfDocuments(sources: readonly SourceText[], patterns: readonly string[], ignored: readonly string[]) {
  const schema = readGraphqlSchema(sources);
  const { documents, expandedBy } = readDocuments(patterns, schema, ignored);
  const operations = documents.map((document) => {
    // Not in the order of the files, so that moving a fragment changes nothing.
    const definitions = document.definitions.toSorted((a, b) => compareText(fragmentName(a), fragmentName(b)));
    const [operation] = definitions.filter((definition) => definition.kind === 'OperationDefinition');
    const variables = operation?.variableDefinitions ?? [];
    return {
      name: operation?.name?.value ?? null,
      variables: Object.fromEntries(variables.map(({ variable, type }) => [variable.name.value, print(type)])),
      text: print({ ...document, definitions }),
    };
  });
  const coordinates = new Map(documents.flatMap((document) => [...coordinatesOf(schema, document)]));
  return {
    expandedBy,
    coordinates: Object.fromEntries([...coordinates].toSorted(([a], [b]) => compareText(a, b))),
    // Several files can contain the same operation.
    operations: [...new Map(operations.map((operation) => [operation.text, operation])).values()].toSorted(
      (a, b) => compareText(a.name ?? '', b.name ?? '') || compareText(a.text, b.text),
    ),
  };
}

/** Empty for the operation, which comes first. */
function fragmentName(definition: DefinitionNode): string {
  return definition.kind === 'FragmentDefinition' ? definition.name.value : '';
}

/** The event that a JSON Schema of a body describes, by the constants of its members `type` and `version`. */
function eventOf(source: SourceText): string {
  const document = parseJson(source);
  const constant = (name: string): string => {
    const found = ownMember(ownMember(ownMember(document.value, 'properties'), name), 'const');
    if (typeof found === 'string') return found;
    return failIn(document, `/properties/${name}/const`, `must be the ${name} of the event, as a string`);
  };
  return `${constant('type')}@${constant('version')}`;
}

function usedFile({ file, text, readRelative }: SourceText): UsedFile {
  const sha256 = sha256Of(text);
  const steps = (splitPlace(file).path ?? resolve(file).replaceAll(sep, '/')).split('/');
  for (const up of steps.keys()) {
    const manifest = ifValid(() => readRelative?.(`${'../'.repeat(up)}package.json`) ?? null);
    const { name, version } = manifest === null ? {} : jsonObjectIn(manifest.text);
    if (typeof name !== 'string') continue;
    const packageVersion = typeof version === 'string' ? version : null;
    return { package: name, packageVersion, file: steps.slice(-up - 1).join('/'), sha256 };
  }
  return { package: null, packageVersion: null, file: null, sha256 };
}
