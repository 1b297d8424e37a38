import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Location as SarifLocation, Log, Notification, ReportingDescriptor, Result } from 'sarif';
import type { Change, Location } from '../change.ts';
import { rulesById } from '../rules.ts';
import { sha256Of } from '../text-file.ts';
import { levelOf, reasonsOf, type Group, type Outcome } from './outcome.ts';
import { jsonLines } from './printed-line.ts';

/** Renders SARIF 2.1.0, which code scanning services read. `placed` names a file as they do. */
export function renderSarif(outcome: Outcome, placed: (location: Location) => Location, version: string): string[] {
  const findings = outcome.groups.flatMap((group) =>
    group.changes.map((change) => ({ change, level: levelOf(change, group) })),
  );
  const ruleIds = [...new Set(findings.map(({ change }) => change.rule))].toSorted();
  const results = findings.map(({ change, level }): Result => ({
    ruleId: change.rule,
    ruleIndex: ruleIds.indexOf(change.rule),
    level,
    message: { text: `${change.coordinate}: ${change.message} ${reasonsOf(change)}` },
    locations: [
      { ...locationOf(placed(change.location)), logicalLocations: [{ fullyQualifiedName: change.coordinate }] },
    ],
    ...(change.oldLocation === null ? {} : { relatedLocations: [oldLocationOf(placed(change.oldLocation))] }),
    partialFingerprints: { 'contractCheck/v1': fingerprintOf(change) },
    properties: { verdict: change.verdict },
  }));
  const log: Log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'contract-check', semanticVersion: version, rules: ruleIds.map(descriptorOf) } },
        invocations: [
          {
            executionSuccessful: true,
            toolExecutionNotifications: [
              ...outcome.notices.map(({ location, message }): Notification => ({
                level: 'note',
                message: { text: message },
                locations: [locationOf(placed(location))],
              })),
              ...outcome.groups.flatMap(failuresOf),
            ],
          },
        ],
        results,
      },
    ],
  };
  return jsonLines(log);
}

function failuresOf({ problems, name }: Group): Notification[] {
  return problems.map(({ message, remedy }) => ({
    level: 'error',
    message: { text: `${name === null ? '' : `${name}: `}${message} To fix: ${remedy}` },
  }));
}

function descriptorOf(id: string): ReportingDescriptor {
  const rule = rulesById.get(id);
  if (rule === undefined) return { id };
  const why = 'why' in rule ? rule.why : `Producer: ${rule.producer.why} Consumer: ${rule.consumer.why}`;
  const text = `${rule.what[0]?.toUpperCase()}${rule.what.slice(1)}.`;
  return { id, shortDescription: { text }, help: { text: why } };
}

function locationOf({ file, line }: Location): SarifLocation {
  const path = file.replaceAll('\\', '/');
  const uri = isAbsolute(file) ? pathToFileURL(file).href : encodeURI(path.replace(/^\.\//, ''));
  return { physicalLocation: { artifactLocation: { uri }, ...(line === null ? {} : { region: { startLine: line } }) } };
}

function oldLocationOf({ file, line }: Location): SarifLocation {
  const [, ref, path = file] = /^git:([^:]+):(.+)$/.exec(file) ?? [];
  const text = ref === undefined ? 'Before the change' : `Before the change, in ${ref}`;
  return { id: 1, message: { text }, ...locationOf({ file: path, line }) };
}

/** Equal for the same change on another line or in another file. */
function fingerprintOf({ rule, coordinate, message }: Change): string {
  return sha256Of(JSON.stringify([rule, coordinate, message])).slice(0, 32);
}
