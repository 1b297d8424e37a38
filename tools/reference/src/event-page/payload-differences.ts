import { compareJsonSchemas } from '@deedwire/contract-check';
import { sourceOf, type Difference } from '../differences.ts';
import { payloadFields, readPayloadSchema } from './payload-fields.ts';

/**
 * By the names that a table of fields has, without `version`.
 *
 * @param older the path of a JSON Schema, from the root of the workspace
 */
export function payloadDifferences(older: string, newer: string): Difference[] {
  const before = pathsOf(older);
  const after = pathsOf(newer);
  const { changes } = compareJsonSchemas(sourceOf(older), sourceOf(newer), { direction: 'producer' });
  return changes
    .map((change) => ({ ...change, coordinate: change.coordinate.replace(/^\$\./, '') }))
    .filter(({ coordinate }) => coordinate !== 'version')
    .map((change) => {
      if (!after.has(change.coordinate)) return { ...change, message: 'The field is not sent any more.' };
      if (!before.has(change.coordinate)) return { ...change, message: 'The field is new.' };
      return change;
    });
}

function pathsOf(file: string): Set<string> {
  return new Set(payloadFields(readPayloadSchema(file)).map(({ path }) => path));
}
