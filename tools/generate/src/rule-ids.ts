import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Generated } from './generated.ts';
import { workspaceRoot } from './workspace-files.ts';

/** The ids of the rules of `contract-check`, which only gain entries, because overrides and exceptions name them. */
export async function ruleIds(): Promise<Generated> {
  // The package does not export its rules.
  const { rulesById }: { rulesById: ReadonlyMap<string, unknown> } = await import(
    pathToFileURL(join(workspaceRoot, 'packages/contract-check/src/rules.ts')).href
  );
  const text = `${JSON.stringify({ rules: [...rulesById.keys()].toSorted() }, null, 2)}\n`;
  return { files: new Map([['packages/contract-check/rule-ids.json', text]]) };
}
