import { join } from 'node:path';
import { readContracts, readRecords, unreleasedRecord } from '@deedwire/release';
import { readText, workspaceRoot } from '../workspace-files.ts';
import type { History } from './history.ts';

/**
 * Reads no git history, so that the pages do not depend on the clone.
 *
 * @param folder the folder of the package, relative to the workspace root
 */
export function readHistory(folder: string): History {
  const { name }: { name: string } = JSON.parse(readText(`${folder}/package.json`));
  const location = join(workspaceRoot, folder);
  const records = readRecords(location);
  return { packageName: name, records, unreleased: unreleasedRecord(records, readContracts(location)) };
}
