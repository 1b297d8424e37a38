import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/**
 * Compiles files of a folder as a strict consumer of our packages does. Resolves with what the compiler prints: nothing, if they
 * compile.
 *
 * @param options further options of the compiler
 */
export async function compileBlocks(folder: string, include: string, options: object = {}): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    skipLibCheck: true,
    // The sources of our packages import each other with the extension .ts; a consumer sees the .d.ts files.
    allowImportingTsExtensions: true,
    customConditions: ['deedwire-source'],
    typeRoots: [join(modules, '@types')],
    types: ['node'],
    ...options,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: [include] }));
  const compiled = promisify(execFile)(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder]);
  const { stdout, stderr } = await compiled.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
}
