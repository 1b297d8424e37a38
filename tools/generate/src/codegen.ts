import { generate, type CodegenConfig } from '@graphql-codegen/cli';

/**
 * Runs GraphQL Codegen without writing files.
 *
 * @param cwd absolute path of the folder that the paths of the configuration and the names of its plugins are relative to
 * @returns path, as in `generates` → text
 */
export async function runCodegen(cwd: string, config: CodegenConfig): Promise<Map<string, string>> {
  const outputs: { filename: string; content: string }[] = await generate({ ...config, cwd, silent: true }, false);
  return new Map(outputs.map(({ filename, content }) => [filename, content]));
}
