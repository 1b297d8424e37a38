import { compareJsonSchemas } from '@deedwire/contract-check';
import { sourceOf, type Difference } from '../differences.ts';
import { payloadFields, readPayloadSchema } from './payload-fields.ts';

/**
 * The changes between two payload versions, by field path. The `version` field always differs and is omitted.
 *
 * @param older path of a JSON Schema, relative to the workspace root
 * @param newer path of a JSON Schema, relative to the workspace root
 */
export function payloadDifferences(older: string, newer: string): Difference[] {
  const before = pathsOf(older);
  const after = pathsOf(newer);
  const { changes } = compareJsonSchemas(sourceOf(older), sourceOf(newer), { direction: 'producer' });
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
