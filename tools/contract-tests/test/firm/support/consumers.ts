import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A consumer of an interface. */
export interface Consumer {
  name: string;
  interface: 'lender' | 'partner';
  /** The versions that it pins. */
  versions: readonly string[];
  /** All operations that it sends, as one document. */
  document: string;
  /** Recorded requests, at least one for each operation. */
  recorded: readonly { operation: string; variables: Record<string, unknown> }[];
}

const root = join(import.meta.dirname, '../../..');

/** Reads `consumers/<name>/`. Returns the consumers sorted by name. */
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
