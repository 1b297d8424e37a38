import { existsSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { configFile } from '../config/config.ts';
import { configurationOf, type FoundSchemas, type SchemaGroup } from '../find/find-schemas.ts';
import type { SchemaKind } from '../find/recognize.ts';
import { failAt } from '../input-error.ts';
import { packageManagerOf } from '../source/project.ts';
import { jsonLines } from './printed-line.ts';

const kindText: Readonly<Record<SchemaKind, string>> = {
  graphql: 'GraphQL schema',
  'graphql-part': 'GraphQL, a part',
  'json-schema': 'JSON Schema',
};

/** The schemas of a repository, and how to compare them. `writes`: writes the configuration instead of printing it. */
export function renderFound(found: FoundSchemas, root: string, writes: boolean): string[] {
  const { groups, compared, invalid, searched } = found;
  const unread = Array.from(found.unread, ([noun, files]) => count(files, noun)).join(', ');
  const notLookedAt = unread === '' ? [] : [`Not looked at, because no command reads them: ${unread}.`];
  if (groups.length === 0 && compared.size === 0) {
    const [first] = invalid;
    failAt(
      root,
      `found no schema in ${count(searched, 'file')}: no SDL or introspection result in *.graphql, *.graphqls, *.gql or *.json, and no JSON Schema in *.schema.json or *.jsonschema, or with "$schema" in *.json.${first === undefined ? '' : ` The first invalid file: ${first}`}${notLookedAt.map((line) => ` ${line}`).join('')}`,
    );
  }
  if (writes) writeConfiguration(found, root);
  return [
    ...(compared.size === 0 ? [] : renderCompared(found)),
    ...(groups.length === 0 ? [] : [...renderGroups(found), ...renderStart(found, root, writes)]),
    ...section('These files are invalid:', invalid),
    ...notLookedAt,
    'Nothing was compared.',
  ];
}

function renderCompared({ compared }: FoundSchemas): string[] {
  const lines = [...compared].map(([name, contracts]) => `${name}: ${count(contracts, 'contract')}`);
  return section('contract-check workspace compares:', lines);
}

function renderGroups({ groups, compared }: FoundSchemas): string[] {
  const lines = groups.flatMap(({ kind, owner, files, entry }) => {
    const of = owner === null ? '' : ` of ${owner.name}${owner.version === null ? '' : ` ${owner.version}`}`;
    const places = entry.files.map((pattern) => posix.join(entry.folder ?? '', pattern));
    return [`${kindText[kind]}${of}, ${count(files, 'file')}`, ...shortened(places).map((place) => `  ${place}`)];
  });
  return section(compared.size === 0 ? 'Found:' : 'It does not compare:', lines, Number.POSITIVE_INFINITY);
}

function renderStart({ groups, compared, isInGit }: FoundSchemas, root: string, isWritten: boolean): string[] {
  if (compared.size > 0) return [`To compare these as well, list all contracts in ${configFile}.`, ''];
  const isNode = isNodeProject(root);
  const { run, addDevelopment } = packageManagerOf(root);
  const commands = isNode
    ? [`${addDevelopment} @deedwire/contract-check graphql`, `${run} contract-check workspace`]
    : ['npx @deedwire/contract-check workspace'];
  return [
    ...(isWritten
      ? [`Wrote ${join(root, configFile)}, which compares them with the latest release of their packages:`, '']
      : [
          `To compare them with the latest release of their packages, save this as ${configFile}, or run find --write:`,
          '',
          ...jsonLines(configurationOf(groups, isNode)),
          '',
        ]),
    ...startNotes(groups).map((note) => `- ${note}`),
    '',
    ...(isInGit
      ? ['Then run this, and again in each pull request:', '', ...commands.map((command) => `  ${command}`), '']
      : [
          'The folder is not in a git repository, which would show what was last released. State it as "baseline" in each entry.',
          '',
        ]),
  ];
}

/** @throws {InputError} when there is nothing to add, or it would replace what is compared. */
function writeConfiguration({ groups, compared }: FoundSchemas, root: string): void {
  const file = join(root, configFile);
  const problem = existsSync(file)
    ? 'exists. Add to it what is missing'
    : 'would replace the contracts that are found by their folders. List them all';
  if (existsSync(file) || compared.size > 0 || groups.length === 0) failAt(file, problem);
  writeFileSync(file, `${JSON.stringify(configurationOf(groups, isNodeProject(root)), null, 2)}\n`);
}

function isNodeProject(root: string): boolean {
  return existsSync(join(root, 'package.json'));
}

/** What the user has to decide. */
function startNotes(groups: readonly SchemaGroup[]): string[] {
  const has = (kind: SchemaKind): boolean => groups.some((group) => group.kind === kind);
  return [
    'Remove what is no promise to others, such as test data and copies of the schemas of others.',
    ...(has('json-schema') ? ['Change "direction" to "consumer" where you accept what a JSON Schema describes.'] : []),
    ...(has('graphql-part') ? ['"partial" marks subgraphs, and files that only make a schema together.'] : []),
    ...(groups.some(({ owner }) => owner === null)
      ? ['No package.json states a version. Pass the bump that you release with --declared.']
      : []),
  ];
}

/** A heading, indented lines and an empty line. Empty without lines. */
function section(heading: string, lines: readonly string[], most = 20): string[] {
  return lines.length === 0 ? [] : [heading, '', ...shortened(lines, most).map((line) => `  ${line}`), ''];
}

function shortened(lines: readonly string[], most = 20): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), `and ${lines.length - most} more`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
