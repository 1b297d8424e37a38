/**
 * `pnpm check [--service <folder>]`: all static checks, or only those that take a folder with a service, of this one. It changes no file.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  checkContracts,
  checkGeneratedFiles,
  checkServedSchemas,
  checkTypes,
  findTodos,
  findTodosOf,
  run,
  workspaceRoot,
  type CommandResult,
} from '../tools/checks/src/index.ts';
import { packageManagerCommand as pnpm } from '../tools/dev-environment/src/workspace.ts';
import { composedNotes } from '../tools/generate/src/composed/composed-notes.ts';
import { readChosenLayout, readLayouts } from '../tools/layout/src/layout.ts';
import { findUndeclared } from '../tools/release/src/index.ts';
import { endWithReader } from './end-with-reader.ts';

endWithReader();

interface Step {
  name: string;
  /** How to fix a failure. */
  remedy: string;
  check(): Promise<CommandResult>;
  /** Runs tests of the project `unit`, which `pnpm test` would run twice. */
  isUnitTest?: true;
}

// First: what is not written yet makes generated files out of date, and fails other checks.
const todos: Step = {
  name: 'TODOs',
  remedy: 'write what each TODO asks for, and delete the TODO',
  check: findTodos,
};

function generatedOf(service?: string): Step {
  const of = service === undefined ? '' : ` --service ${service}`;
  return { name: 'generated files', remedy: `${pnpm} generate${of}`, check: () => checkGeneratedFiles(service) };
}

const generated = generatedOf();

function servedOf(service?: string): Step {
  return {
    name: 'served schemas',
    remedy: 'change the schema among the sources of the app, or revert the change of the SDL',
    check: () => checkServedSchemas(service),
  };
}

/**
 * The layers, the interfaces, what identifies a person, the lists of every version of every contract, the files of each version, the
 * links of pages, and the terms of texts.
 */
const ruleTests = [
  'packages/webhook-rendering/src/renderer.test.ts',
  'tools/checks/src/language/language.test.ts',
  'tools/checks/src/layering.test.ts',
  'tools/checks/src/sunset-plans.test.ts',
  'tools/generate/src/reference/links.test.ts',
  'tools/generate/src/reference/recorded-event-types.test.ts',
];

/** Those of applications. */
const ruleTestsOfServices = [
  'packages/*/src/personal-data.test.ts',
  'packages/*/src/{event-types,payload-files}.test.ts',
  'tools/contract-tests/src/*/{*-modules,interfaces,renderer,schema-packages}.test.ts',
];

const steps: Step[] = [
  { name: 'format', remedy: `${pnpm} format`, check: () => run('oxfmt', ['--check']) },
  {
    name: 'lint',
    remedy: `${pnpm} exec oxlint --type-aware`,
    check: () => run('oxlint', ['--type-aware', '--deny-warnings', '--format=unix']),
  },
  { name: 'types', remedy: `${pnpm} exec tsc -b`, check: checkTypes },
  {
    name: 'contracts',
    remedy: 'see the output of `contract-check`, which compares each contract with its latest release',
    check: () => checkContracts(),
  },
  {
    name: 'packed files',
    remedy: `${pnpm} exec changeset`,
    async check() {
      const undeclared = await findUndeclared(workspaceRoot);
      return { succeeded: undeclared.length === 0, output: undeclared.join('\n') };
    },
  },
  servedOf(),
  {
    name: 'layers, lists of versions, links and language',
    isUnitTest: true,
    remedy:
      'see the failed test: change the import, the file, the page or the text, or confirm the change in the list of the test',
    check: () => {
      const ofServices = globSync(ruleTestsOfServices, { cwd: workspaceRoot });
      return run('vitest', ['run', '--project', 'unit', '--reporter=dot', ...ruleTests, ...ofServices]);
    },
  },
];

/**
 * Runs all checks and prints one line per check, plus the remedy and the output of failed ones. Returns the names of the
 * failed checks.
 *
 * @param options `withUnitTests`: false if the unit tests run afterwards
 */
export async function check({ withUnitTests }: { withUnitTests: boolean }): Promise<string[]> {
  const due = steps.filter(({ isUnitTest = false }) => withUnitTests || !isUnitTest);
  return await performInOrder([
    [[todos], 'until no TODO is left'],
    [[generated], causeOfGenerated],
    [due, ''],
  ]);
}

/** The checks of one service. Returns the names of the failed ones. */
async function checkService(folder: string): Promise<string[]> {
  return await performInOrder([
    [[{ ...todos, check: () => findTodosOf(folder) }], 'until no TODO is left'],
    [[generatedOf(folder)], causeOfGenerated],
    [[servedOf(folder)], ''],
  ]);
}

// The other checks would report the cause again, each in its own words.
const causeOfGenerated = 'because a generator failed. Fix what it names';

/** @param groups checks that run together, and why a blocking failure of one skips the next ones */
async function performInOrder(
  groups: readonly (readonly [steps: readonly Step[], cause: string])[],
): Promise<string[]> {
  const failed: string[] = [];
  for (const [together, cause] of groups) {
    const performed = await Promise.all(together.map(perform));
    failed.push(...performed.filter(({ result }) => !result.succeeded).map(({ step }) => step.name));
    if (!performed.some(({ result }) => result.isBlocking === true)) continue;
    process.stdout.write(`\nSkipped the other checks ${cause}.\n`);
    break;
  }
  return failed;
}

async function perform(step: Step): Promise<{ step: Step; result: CommandResult }> {
  const startedAt = performance.now();
  const result = await step.check();
  const { succeeded, output, warnings = '', isBlocking = false } = result;
  // If a generator failed, the sources of composed files can be malformed.
  const notes = succeeded || isBlocking ? [] : composedNotes(await readLayouts(), output);
  // Above the output, which can be long. The commands in it are those of pnpm itself.
  const remedies = [...notes, ...(step.name === generated.name && isBlocking ? [] : [step.remedy])];
  const remedy = remedies.map((each) => `Remedy: ${each}\n`).join('');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${succeeded ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)\n${succeeded ? warnings : `${remedy}${output.trimEnd().replaceAll(/^( +)pnpm /gm, `$1${pnpm} `)}\n`}`,
  );
  return { step, result };
}

if (import.meta.main) {
  const { service } = parseArgs({ options: { service: { type: 'string' } } }).values;
  const failed =
    service === undefined
      ? await check({ withUnitTests: true })
      : await checkService(join(workspaceRoot, (await readChosenLayout(service)).root));
  process.exitCode = failed.length > 0 ? 1 : 0;
}
