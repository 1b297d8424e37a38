import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run, workspaceRoot, type CommandResult } from './run.ts';

/** The files that `pnpm generate` writes. */
const generatedPaths = [
  'packages/*/api/**',
  'packages/contract-check/rule-ids.json',
  'packages/*/asyncapi/**',
  'packages/*/json-schema/**',
  'packages/*/**/generated/**',
  'apps/*/**/generated/**',
  'tools/*/**/generated/**',
  '.github/ISSUE_TEMPLATE/bug.yml',
  'deploy/**',
  'docs/operations.md',
  'docs/reference/**',
  'packages/webhook-events/README.md',
  'tsconfig.json',
  'apps/*/tsconfig.json',
  'packages/*/tsconfig.json',
  'tools/*/tsconfig.json',
  'packages/webhook-events/fixtures/**',
];

/** Runs every generator, reports the files that changed, and restores them. */
export async function checkGeneratedFiles(): Promise<CommandResult> {
  const before = await readGenerated();
  const generation = await run('node', ['--conditions=deedwire-source', 'tools/generate/src/main.ts']);
  const after = await readGenerated();
  const stale = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  await Promise.all(stale.map((path) => restore(path, before.get(path))));
  if (!generation.succeeded) return { ...generation, isBlocking: true };
  return {
    succeeded: stale.length === 0,
    output: stale
      .map((path) => `out of date: ${path}\n`)
      .toSorted()
      .join(''),
  };
}

async function readGenerated(): Promise<Map<string, string>> {
  const patterns = generatedPaths.map((path) => `:(glob)${path}`);
  const listed = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns]);
  const paths = listed.output.split('\0').filter((path) => path !== '');
  const entries = await Promise.all(
    paths.map(
      async (path) => [path, await readFile(join(workspaceRoot, path), 'utf8').catch(() => undefined)] as const,
    ),
  );
  return new Map(entries.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])));
}

async function restore(path: string, text: string | undefined): Promise<void> {
  const target = join(workspaceRoot, path);
  if (text === undefined) return rm(target);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, text);
}
