import { requestHeaders } from '@deedwire/core';
import type { RecordedChange } from '@deedwire/release';
import { describeUpgrade, isBreaking } from '../differences.ts';
import type { Example } from '../examples.ts';
import { releaseOf } from '../history.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { code, codeBlock, link, page } from '../markdown.ts';
import type { PathTo } from '../path-to.ts';
import { upgradeIntroduction } from '../upgrade-links.ts';
import { describeExchange, operationHeading } from './operation.ts';
import { operationPage } from './places.ts';
import { usedCoordinates } from './used-coordinates.ts';

/**
 * How to move requests from one version of an interface to a newer one.
 *
 * @param differences between both versions
 * @param pathTo relative to the page
 */
export function interfaceUpgradePage(
  { name, names, history }: Pick<InterfaceContract, 'name' | 'names' | 'history'>,
  from: InterfaceVersion,
  to: InterfaceVersion,
  differences: readonly RecordedChange[],
  pathTo: PathTo,
): string {
  const release = releaseOf(history, to.version, null);
  return page(`Upgrade the ${name} interface from ${from.version} to ${to.version}`, [
    ...upgradeIntroduction({ pathTo }, from, to, [
      `Install ${code(history.packageName)} ${release === null ? 'in its next release' : `${release} or later`}, and generate your types from ${to.version}.`,
      'Change the operations that the breaking changes affect. The examples below show each of them before and after.',
      `Send ${code(`${requestHeaders({ names }).schemaVersion}: ${to.version}`)} with the changed operation. Each request chooses its version, so you can move one operation at a time. To go back, send ${from.version} again.`,
    ]),
    ...describeUpgrade(differences),
    ...describeOperations(from, to, differences),
  ]);
}

function describeOperations(
  from: InterfaceVersion,
  to: InterfaceVersion,
  differences: readonly RecordedChange[],
): string[] {
  const breaking = new Set(differences.filter(isBreaking).map(({ coordinate }) => coordinate));
  const pairs = from.examples.map((before) => ({
    before,
    after: to.examples.find(({ kind, operation }) => kind === before.kind && operation === before.operation),
    affectedBy: [...usedCoordinates(from.schema, before.document)].filter((coordinate) => breaking.has(coordinate)),
  }));
  const isUnchanged = ({ before, after, affectedBy }: (typeof pairs)[number]): boolean =>
    affectedBy.length === 0 && haveOneRecording(before, after);
  const unchanged = pairs.filter(isUnchanged).map(({ before }) => linkTo(to, before));
  const known = new Set(pairs.map(({ before }) => operationHeading(before)));
  const added = to.examples.filter((example) => !known.has(operationHeading(example))).map((each) => linkTo(to, each));
  return [
    ...pairs.filter((pair) => !isUnchanged(pair)).flatMap((pair) => describeOperation(from, to, pair)),
    ...(unchanged.length === 0
      ? []
      : [
          '## Unchanged operations',
          `The examples of these operations are the same at both versions: ${unchanged.join(', ')}.`,
        ]),
    ...(added.length === 0 ? [] : ['## New operations', `${added.join(', ')}.`]),
  ];
}

/** Whether both versions show the same document with the same recorded responses. */
function haveOneRecording(before: Example, after: Example | undefined): boolean {
  return after !== undefined && filesOf(before) === filesOf(after);
}

function filesOf({ path, exchanges }: Example): string {
  return [path, ...exchanges.map(({ responsePath }) => responsePath)].join(' ');
}

interface Pair {
  before: Example;
  /** Undefined if the newer version does not have the operation. */
  after: Example | undefined;
  /** Coordinates of the breaking changes that the example depends on. */
  affectedBy: readonly string[];
}

function describeOperation(
  from: InterfaceVersion,
  to: InterfaceVersion,
  { before, after, affectedBy }: Pair,
): string[] {
  const reason = affectedBy.length === 0 ? '' : `Affected by the change of ${affectedBy.map(code).join(', ')}.`;
  const heading = `## ${operationHeading(before)}`;
  if (haveOneRecording(before, after))
    return [heading, reason, 'The example is valid at both versions:', ...show(before)];
  return [
    heading,
    reason,
    `At ${from.version}:`,
    ...show(before),
    ...(after === undefined ? [`${to.version} does not have this operation.`] : [`At ${to.version}:`, ...show(after)]),
  ];
}

function show({ document, exchanges }: Example): string[] {
  return [
    codeBlock('graphql', document),
    ...exchanges.filter(({ result }) => result === 'success').flatMap(describeExchange),
  ];
}

function linkTo({ version }: InterfaceVersion, example: Example): string {
  return link(code(example.operation), operationPage(version, example));
}
