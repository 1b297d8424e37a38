import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run, workspaceRoot, type CommandResult } from './run.ts';

/** The packages that see browser globals. The types of `graphql-yoga` reference them, and a browser runs the portal. */
const withBrowserGlobals = ['packages/graphql-server', 'packages/portal'];

/** Takes a fifth less CPU time: several checkers resolve the same types again, and the programs are small. */
const oneChecker = ['--checkers', '1'];

/** Written by `tsc -b` into each package. */
const buildInfo = 'node_modules/.cache/types/tsconfig.tsbuildinfo';

/** Checks the types of every package, and that no other package gets browser globals from its dependencies. */
export async function checkTypes(): Promise<CommandResult> {
  const forced = dependenciesMayHaveChanged() ? ['--force'] : [];
  const built = await run('tsc', ['-b', ...oneChecker, ...forced]);
  if (!built.succeeded) return built;
  const found = globSync('{packages,apps,tools}/*/package.json', { cwd: workspaceRoot })
    .map((path) => dirname(path))
    .filter(hasBrowserGlobals)
    .toSorted();
  if (found.join() === withBrowserGlobals.join()) return built;
  return {
    succeeded: false,
    output: `These packages see browser globals: ${found.join(', ')}. Allowed: ${withBrowserGlobals.join(', ')}. tsc -p <package> --explainFiles names the dependency whose types reference lib.dom.d.ts.\n`,
  };
}

/** Without --force, `tsc -b` compares our files only, not the installed dependencies. */
function dependenciesMayHaveChanged(): boolean {
  const lockfile = statSync(join(workspaceRoot, 'pnpm-lock.yaml'));
  const lastBuild = statSync(join(workspaceRoot, buildInfo), { throwIfNoEntry: false });
  return lastBuild === undefined || lastBuild.mtimeMs < lockfile.mtimeMs;
}

function hasBrowserGlobals(packageFolder: string): boolean {
  const { fileNames }: { fileNames: string[] } = JSON.parse(
    readFileSync(join(workspaceRoot, packageFolder, buildInfo), 'utf8'),
  );
  return fileNames.some((name) => name.endsWith('lib.dom.d.ts'));
}
