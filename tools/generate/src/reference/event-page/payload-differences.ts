import { compareJsonSchemas } from '@deedwire/contract-check';
import { payloadFields, type PayloadSchema } from '@deedwire/core/payload-fields';
import type { RecordedChange } from '@deedwire/release';
import { readText } from '../../workspace-files.ts';
import { sourceOf } from '../differences.ts';

/** @param path path of the published JSON Schema, relative to the workspace root */
export function readPayloadSchema(path: string): PayloadSchema {
  return JSON.parse(readText(path));
}

/**
 * The JSON Schema of a payload version, relative to the workspace.
 *
 * @param payloads the package of payloads
 */
export function schemaPathOf(payloads: string, type: string, version: string): string {
  return `${payloads}/json-schema/${type}/${version}.json`;
}

/** The rules of the gate for payloads, as in the `package.json` of a package of payloads: its validators reject what they do not know. */
export const payloadRules = { direction: 'producer', closedOutputs: true } as const;

/**
 * The changes between two payload versions, by field path. The `version` field always differs and is omitted.
 *
 * @param older path of a JSON Schema, relative to the workspace root
 * @param newer path of a JSON Schema, relative to the workspace root
 */
export function payloadDifferences(older: string, newer: string): RecordedChange[] {
  const before = pathsOf(older);
  const after = pathsOf(newer);
  const { changes } = compareJsonSchemas(sourceOf(older), sourceOf(newer), payloadRules);
  return changes
    .map((change) => ({ ...change, coordinate: change.coordinate.replace(/^\$\./, '') }))
    .filter(({ coordinate }) => coordinate !== 'version')
    .map((change) => {
      if (!after.has(change.coordinate)) return { ...change, message: 'The field was removed.' };
      if (!before.has(change.coordinate)) return { ...change, message: 'The field was added.' };
      return change;
    });
}

function pathsOf(file: string): Set<string> {
  return new Set(payloadFields(readPayloadSchema(file)).map(({ path }) => path));
}
