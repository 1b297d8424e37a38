import { docsFolder } from '../../platform-folders.ts';
import { describeDifferences, interfaceDifferences } from '../differences.ts';
import { describeAddition } from '../history.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { statusExplanation } from '../lifecycle.ts';
import { anchor, code, link, oneLine, page, table } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';
import type { PublishedEvents } from '../published-events.ts';
import { upgradeGuides } from '../upgrade-links.ts';
import { describeAbilities, describeCosts, describeErrors, describeLimits } from './contract-sections.ts';
import { describeOperation, fieldOf } from './operation.ts';
import { operationPage, type Places, placesOf, typesPage } from './places.ts';
import { describeRequests } from './requests.ts';
import { describeType, typeLink } from './type.ts';

/** The pages of one version of an interface, by their paths in the folder of the interface. */
export function interfacePages(
  contract: InterfaceContract,
  version: InterfaceVersion,
  events: PublishedEvents,
): Map<string, (pathTo: PathTo) => string> {
  const { version: date, examples } = version;
  const places = placesOf(version);
  return new Map([
    [`${date}.md`, (pathTo: PathTo) => overviewPage(contract, version, places, pathTo)],
    [typesPage(date), () => describeTypes(contract, version, places)],
    ...examples.map(
      (example) =>
        [
          operationPage(date, example),
          (pathTo: PathTo) => describeOperation(contract, version, events, places, example, pathTo),
        ] as const,
    ),
  ]);
}

/** What a client needs for each of its operations, and a table of them. */
function overviewPage(contract: InterfaceContract, version: InterfaceVersion, places: Places, pathTo: PathTo): string {
  const { folder } = contract;
  const older = contract.versions.findLast((candidate) => candidate.version < version.version);
  const targetOf = places.from(`${version.version}.md`);
  const overview = version.examples.map((example) => {
    const field = fieldOf(version, example);
    return [
      link(code(example.operation), operationPage(version.version, example)),
      example.kind,
      typeLink(field.type, targetOf),
      field.description ?? '',
    ];
  });
  const sections = [
    ...(older === undefined
      ? []
      : describeDifferences(older.version, interfaceDifferences(folder, older.version, version.version))),
    ...describeRequests(contract, version),
    ...describeErrors(version.manifest, version.remark, pathTo),
    ...describeAbilities(version.manifest, version.remark),
    ...describeLimits(version.manifest, version.remark, folder),
    ...describeCosts(version.manifest),
  ];
  const headings = sections.flatMap((block) => (block.startsWith('## ') ? [block.slice(3)] : []));
  return page(
    `${contract.title} interface, ${version.version}`,
    [
      introduction(contract, version, pathTo),
      headings.map((heading) => link(heading, anchor(heading))).join(' · '),
      '## Operations',
      table(['operation', 'kind', 'returns', 'description'], overview),
      ...sections,
    ],
    `${folder}/versions/${version.version}.*`,
  );
}

/** The types that are not those of one operation. */
function describeTypes({ title, folder }: InterfaceContract, { version }: InterfaceVersion, places: Places): string {
  const path = typesPage(version);
  return page(
    `Types of the ${title.toLowerCase()} interface, ${version}`,
    [
      `Those that several operations of ${link(version, `${version}.md`)} have. A type of one operation is on the page of the operation.`,
      legend,
      ...places.of(path).flatMap((type) => describeType(type, places.from(path))),
    ],
    `${folder}/versions/${version}.*`,
  );
}

function introduction(contract: InterfaceContract, version: InterfaceVersion, pathTo: PathTo): string {
  const { history, versions } = contract;
  const folder = pathTo(contract.folder);
  const links = [
    link('all versions', '../README.md'),
    link('version lifecycle', pathTo(`${docsFolder}/versions.md`)),
    link('changelog', `${version.version}.changelog.md`),
    ...upgradeGuides(versions, version),
    link('types', typesPage(version.version)),
    link('SDL', `${folder}/versions/${version.version}.graphql`),
    link('manifest', `${folder}/versions/${version.version}.manifest.json`),
    link('package with a typed client', folder),
    link('errors', pathTo(`${docsFolder}/errors.md`)),
  ];
  const audience = oneLine(version.schema.getQueryType()?.description ?? '');
  return `${statusExplanation(version)}\n\n${audience}\n\n${describeAddition(history, version.version)}\n\nSee also: ${links.join(' · ')}.`;
}

const legend = `\`!\` marks a field that is never null, and an argument or input field that is required. The description of any other field explains null. An omitted argument or input field takes its default, or null if it has none. Null means that no value is given.

\`ID\` is the global identifier of a record, a string of the form \`gid://<namespace>/<TypeName>/<number>\`. Treat it as opaque: compare whole strings and do not parse them. \`String\`, \`Int\` (32 bits) and \`Boolean\` are those of GraphQL.`;
