import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Generated } from './generated.ts';
import { typeOfSchema } from './payloads/payloads.ts';
import { readText, workspaceRoot } from './workspace-files.ts';

const folder = 'packages/contract-check';

/**
 * The ids of the rules of `contract-check`, which only gain entries, because overrides and exceptions name them, and the types of the
 * files from which it answers.
 */
export async function contractCheck(): Promise<Generated> {
  // The package does not export its rules.
  const { rulesById }: { rulesById: ReadonlyMap<string, unknown> } = await import(
    pathToFileURL(join(workspaceRoot, folder, 'src/rules.ts')).href
  );
  const text = `${JSON.stringify({ rules: [...rulesById.keys()].toSorted() }, null, 2)}\n`;
  const { $defs } = JSON.parse(readText(`${folder}/environment.schema.json`));
  const files = ['environment', 'build', 'uses'].map((name) => ({ $ref: `#/$defs/${name}` }));
  return {
    files: new Map([
      [`${folder}/rule-ids.json`, text],
      [`${folder}/src/environment/generated/files.ts`, await typeOfSchema({ title: 'Read', $defs, anyOf: files })],
    ]),
  };
}
