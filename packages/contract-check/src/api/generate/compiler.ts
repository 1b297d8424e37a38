import { createRequire } from 'node:module';
import { join } from 'node:path';
import type typescript from '@typescript/typescript6';
import { failAt } from '../../input-error.ts';
import { packageManagerOf } from '../../source/project.ts';

/** The compiler API: of the project's TypeScript, or of `@typescript/typescript6` beside version 7, which has none. */
export const ts: typeof typescript = findCompiler();

function findCompiler(): typeof typescript {
  let found: string | null = null;
  // The current folder first: with npx, this package is installed elsewhere.
  for (const base of [join(process.cwd(), 'package.json'), import.meta.url]) {
    for (const name of ['typescript', '@typescript/typescript6']) {
      const module: unknown = loadModule(name, base);
      if (isCompiler(module)) return module;
      if (typeof module === 'object' && module !== null && 'version' in module) found ??= String(module.version);
    }
  }
  const problem = found === null ? 'TypeScript is not installed' : `TypeScript ${found} has no compiler API`;
  const command = `${packageManagerOf('.').addDevelopment} @typescript/typescript6`;
  failAt('api-report', `${problem}. Install TypeScript 6 for this command, even beside TypeScript 7: ${command}`);
}

function loadModule(name: string, base: string): unknown {
  try {
    return createRequire(base)(name);
  } catch {
    return null;
  }
}

function isCompiler(module: unknown): module is typeof typescript {
  return typeof module === 'object' && module !== null && 'createProgram' in module;
}
