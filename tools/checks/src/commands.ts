import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Layout, readLayout, readLayouts } from '@deedwire/layout';
import { type CommandResult, run, workspaceRoot } from './run.ts';

interface ContractCheckOptions {
  /** Baselines to use instead of the latest release in git. */
  readonly tarballs?: readonly string[];
  /** The day of the release, `YYYY-MM-DD` in UTC. Defaults to the current day. */
  readonly today?: string;
}

/** Runs `contract-check workspace`: compares the contracts of every contract package with its latest release. Notices and exceptions are warnings. */
export async function checkContracts({ tarballs = [], today }: ContractCheckOptions = {}): Promise<CommandResult> {
  const baselines = tarballs.flatMap((tarball) => ['--baseline', tarball]);
  const day = today === undefined ? [] : ['--today', today];
  const bin = 'packages/contract-check/src/bin.ts';
  const result = await run('node', [bin, 'workspace', ...baselines, ...day]);
  const warnings = /^(?:Notices:|Exceptions in )[\s\S]*\n\n/m.exec(result.stdout)?.[0] ?? '';
  return { ...result, warnings };
}

/** Where people write what is served and published, without what generators copy from it. */
const written = [
  '.changeset',
  'apps/*/src/*',
  'packages/*/src/*',
  'packages/*/own/*',
  'packages/*/editions/*',
  ':(exclude,glob)**/generated/**',
];

/** Finds what `pnpm new` leaves to write, by file and line. */
export async function findTodos(): Promise<CommandResult> {
  const ofServices = (await readLayouts()).flatMap(writtenOf);
  const grep = ['grep', '--untracked', '--line-number', '--word-regexp', 'TODO', '--', ...written, ...ofServices];
  const { output } = await run('git', grep);
  return { succeeded: output === '', output, isBlocking: output !== '' };
}

function writtenOf({ root, interfaceNames, contractOf }: Layout): string[] {
  const contracts = interfaceNames.flatMap((name) => [`${contractOf(name)}/README.md`, `${contractOf(name)}/own/*`]);
  return [`${root}/src/*`, ...contracts];
}

/**
 * As `findTodos`, of one service. Its folder can be outside of the repository, where git finds nothing.
 *
 * @param service a folder with a service
 */
export async function findTodosOf(service: string): Promise<CommandResult> {
  const layout = await readLayout(service);
  const { payloads, interfaceNames, appOf } = layout;
  const patterns = [
    ...writtenOf(layout),
    ...interfaceNames.map((name) => `${appOf(name)}/*`),
    ...(payloads === null ? [] : [`${payloads}/src/*`]),
  ].map((pattern) => pattern.replace(/\*$/, '**/*.{graphql,json,ts}'));
  const paths = new Set(globSync(patterns, { cwd: workspaceRoot }));
  const found = [...paths]
    .filter((path) => !/\/generated\//.test(path))
    .toSorted()
    .flatMap(todosIn);
  return { succeeded: found.length === 0, output: found.join(''), isBlocking: found.length > 0 };
}

function todosIn(path: string): string[] {
  const lines = readFileSync(join(workspaceRoot, path), 'utf8').split('\n');
  return lines.flatMap((line, index) => (/\bTODO\b/.test(line) ? [`${path}:${index + 1}:${line}\n`] : []));
}

/** The arguments that choose a service. Without one, a command takes all of the workspace. */
const chosen = (service: string | undefined): string[] => (service === undefined ? [] : ['--service', service]);

/**
 * Compares the generated files with what the generators write. Changes no file.
 *
 * @param service a folder with a service
 */
export async function checkGeneratedFiles(service?: string): Promise<CommandResult> {
  const main = 'tools/generate/src/main.ts';
  const result = await run('node', ['--conditions=deedwire-source', main, '--check', ...chosen(service)]);
  // Otherwise a generator failed, and has printed why.
  return { ...result, isBlocking: !result.succeeded && result.stdout === '' };
}

/**
 * Compares the schema that each app serves with the SDL of the contract.
 *
 * @param service a folder with a service
 */
export function checkServedSchemas(service?: string): Promise<CommandResult> {
  return run('node', ['--conditions=deedwire-source', 'tools/checks/src/served-schemas/main.ts', ...chosen(service)]);
}
