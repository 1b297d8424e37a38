import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Somebody who sends operations to an interface, and the versions that they pin. */
export interface Consumer {
  name: string;
  interface: 'lender' | 'partner';
  versions: readonly string[];
  /** Every operation that they send, as one document. */
  document: string;
  /** Requests that they have sent: each operation at least once. */
  recorded: readonly { operation: string; variables: Record<string, unknown> }[];
}

const root = join(import.meta.dirname, '..');

/** The consumers of `consumers/<name>/`, by name. */
export function readConsumers(): Consumer[] {
  return globSync('consumers/*/consumer.json', { cwd: root })
    .toSorted()
    .map((file) => {
      const folder = join(root, dirname(file));
      const { interface: interfaceName, versions } = JSON.parse(readFileSync(join(root, file), 'utf8'));
      return {
        name: basename(folder),
        interface: interfaceName,
        versions,
        document: readFileSync(join(folder, 'operations.graphql'), 'utf8'),
        recorded: JSON.parse(readFileSync(join(folder, 'recorded.json'), 'utf8')),
      };
    });
}
