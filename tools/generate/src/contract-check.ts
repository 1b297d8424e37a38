import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Generated } from './generated.ts';
import { typeOfSchema } from './payloads/type-of-schema.ts';
import { checkFolder as folder } from './platform-folders.ts';
import { readText, workspaceRoot } from './workspace-files.ts';

/**
 * The ids of the rules of `contract-check`, which only gain entries, because overrides and exceptions name them, and the types of its
 * configuration and of the files from which it answers.
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
      [`${folder}/src/config/generated/config.ts`, await configTypes()],
      [`${folder}/src/environment/generated/files.ts`, await typeOfSchema({ title: 'Read', $defs, anyOf: files })],
    ]),
  };
}

/** Of the configuration file, and of the settings in a `package.json`. */
function configTypes(): Promise<string> {
  // A list that is not empty, and one of two members that is set, would be other types for each length and each member.
  const schema = JSON.parse(readText(`${folder}/config.schema.json`), (keyword, value) =>
    keyword === 'minItems' || keyword === 'anyOf' ? undefined : value,
  );
  const { $defs, properties, additionalProperties } = schema;
  const config = { type: 'object', properties, additionalProperties };
  const files = ['config', 'package'].map((name) => ({ $ref: `#/$defs/${name}` }));
  return typeOfSchema({ title: 'Settings', $defs: { ...$defs, config }, anyOf: files });
}
