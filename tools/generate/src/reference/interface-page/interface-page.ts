import { docsFolder } from '../../platform-folders.ts';
import { describeDifferences, interfaceDifferences } from '../differences.ts';
import type { Example } from '../examples.ts';
import { describeAddition } from '../history.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { statusExplanation } from '../lifecycle.ts';
import { anchor, anchorsOf, code, link, oneLine, page, table } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';
import { upgradeGuides } from '../upgrade-links.ts';
import { describeAbilities, describeCosts, describeErrors, describeLimits } from './contract-sections.ts';
import { describeOperation, operationHeading } from './operation.ts';
import { describeRequests } from './requests.ts';
import { describeType, isDescribed, typeLink } from './type.ts';

/**
 * The page of one version of an interface.
 *
 * @param pathTo relative to the page
 * @throws {Error} if two headings have the same anchor
 */
export function interfacePage(contract: InterfaceContract, version: InterfaceVersion, pathTo: PathTo): string {
  const { schema } = version;
  const older = contract.versions.findLast((candidate) => candidate.version < version.version);
  const types = Object.values(schema.getTypeMap())
    .filter((type) => isDescribed(schema, type))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const operations = version.examples.map((example) => ({ example, field: fieldOf(version, example) }));
  const overview = operations.map(({ example, field }) => [
    link(code(example.operation), anchor(operationHeading(example))),
    example.kind,
    typeLink(field.type),
    field.description ?? '',
  ]);
  const { folder } = contract;
  const sections = [
    ...(older === undefined
      ? []
      : describeDifferences(older.version, interfaceDifferences(folder, older.version, version.version))),
    ...describeRequests(contract, version),
    '## Operations',
    ...operations.flatMap(({ example, field }) => describeOperation(example, field)),
    '## Types',
    legend,
    ...types.flatMap(describeType),
    ...describeErrors(version.manifest, version.remark, pathTo),
    ...describeAbilities(version.manifest, version.remark),
    ...describeLimits(version.manifest, version.remark, folder),
    ...describeCosts(version.manifest),
  ];
  const headings = sections.flatMap((block) => (block.startsWith('## ') ? [block.slice(3)] : []));
  const text = page(
    `${contract.title} interface, ${version.version}`,
    [
      introduction(contract, version, pathTo),
      headings.map((heading) => link(heading, anchor(heading))).join(' · '),
      table(['operation', 'kind', 'returns', 'description'], overview),
      ...sections,
    ],
    `${folder}/versions/${version.version}.*`,
  );
  const anchors = anchorsOf(text);
  const twice = anchors.filter((each, index) => anchors.indexOf(each) !== index);
  if (twice.length > 0) throw new Error(`Several headings have the anchor ${twice.join(', ')}.`);
  return text;
}

function introduction(contract: InterfaceContract, version: InterfaceVersion, pathTo: PathTo): string {
  const { history, versions } = contract;
  const folder = pathTo(contract.folder);
  const links = [
    link('all versions', '../README.md'),
    link('version lifecycle', pathTo(`${docsFolder}/versions.md`)),
    link('changelog', `${version.version}.changelog.md`),
    ...upgradeGuides(versions, version),
    link('SDL', `${folder}/versions/${version.version}.graphql`),
    link('manifest', `${folder}/versions/${version.version}.manifest.json`),
    link('types and a typed client', folder),
    link('errors', pathTo(`${docsFolder}/errors.md`)),
  ];
  const audience = oneLine(version.schema.getQueryType()?.description ?? '');
  return `${statusExplanation(version)}\n\n${audience}\n\n${describeAddition(history, version.version)}\n\nSee also: ${links.join(' · ')}.`;
}

const legend = `\`!\` marks a field that is never null, and an argument or input field that is required. The description of any other field explains null. An omitted argument or input field takes its default, or null if it has none. Null means that no value is given.

\`ID\` is the global identifier of a record, a string of the form \`gid://<namespace>/<TypeName>/<number>\`. Treat it as opaque: compare whole strings and do not parse them. \`String\`, \`Int\` (32 bits) and \`Boolean\` are those of GraphQL.`;

function fieldOf({ schema }: InterfaceVersion, { kind, operation }: Example) {
  const field = schema.getRootType(kind)?.getFields()[operation];
  if (field === undefined) throw new Error(`The schema has no ${kind} ${operation}.`);
  return field;
}
