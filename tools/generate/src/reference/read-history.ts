import { join } from 'node:path';
import { checkWorkspace } from '@deedwire/contract-check';
import { currentContracts, readRecords, recordOf, releasedContracts } from '@deedwire/release';
import { readText, workspaceRoot } from '../workspace-files.ts';
import type { History } from './history.ts';

// The day is a constant so that the pages do not depend on the day of their generation. It selects only between rules.
const { changes: unreleasedChanges } = await checkWorkspace({ root: workspaceRoot, today: '1970-01-01' });

/** @param folder the folder of the package, relative to the workspace root */
export function readHistory(folder: string): History {
  const { name }: { name: string } = JSON.parse(readText(`${folder}/package.json`));
  const location = join(workspaceRoot, folder);
  const changes = unreleasedChanges.filter((change) => change.package === name);
  return {
    packageName: name,
    records: readRecords(location),
    unreleased: recordOf(releasedContracts(location), currentContracts(location), changes),
  };
}
