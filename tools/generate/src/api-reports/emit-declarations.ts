import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { workspaceRoot } from '../workspace-files.ts';

const tsc = join(workspaceRoot, 'node_modules/.bin/tsc');

/**
 * Emits the declarations of a package as its build does. Returns the folder. Without checks, it does not resolve the packages
 * that this package imports, which have no declarations before they are built. A package that imports another must state the
 * types of its exports (`isolatedDeclarations`).
 */
export function emitDeclarations(packageFolder: string, outDir: string): string {
  const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', outDir];
  execFileSync(tsc, ['-p', join(packageFolder, 'tsconfig.build.json'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return outDir;
}
