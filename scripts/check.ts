/** `pnpm check`: everything that is wrong without running the product. Changes no file. */
import { checkContracts, checkGeneratedFiles, run, type CommandResult } from '../tools/checks/src/index.ts';
import { checkReleased } from '../tools/release/src/index.ts';

interface Step {
  name: string;
  /** What puts it right, for the reader of a failure. */
  remedy: string;
  check(): Promise<CommandResult>;
}

// First and alone: while the generators write, the others would read half a tree.
const generated: Step = { name: 'generated files', remedy: 'pnpm generate', check: checkGeneratedFiles };

const steps: Step[] = [
  { name: 'format', remedy: 'pnpm format', check: () => run('oxfmt', ['--check']) },
  {
    name: 'lint',
    remedy: 'pnpm exec oxlint --type-aware',
    check: () => run('oxlint', ['--type-aware', '--deny-warnings', '--format=unix']),
  },
  { name: 'types', remedy: 'pnpm exec tsc -p tsconfig.json', check: () => run('tsc', ['-p', 'tsconfig.json']) },
  {
    name: 'boundaries',
    remedy: 'import downwards only; declare what is imported',
    check: () => run('turbo', ['boundaries', '--no-color']),
  },
  { name: 'released', remedy: 'git checkout <tag> -- <path>: only a release writes released/', check: checkReleased },
  {
    name: 'contracts',
    remedy: 'as it says; `contract-check` compares each contract with its last release',
    check: () => checkContracts(),
  },
  {
    name: 'layering',
    remedy: 'see tools/checks/src/layering.test.ts',
    check: () => run('vitest', ['run', '--project', 'unit', '--reporter=dot', 'tools/checks/src/layering.test.ts']),
  },
];

/** Prints one line per step and the output of those that fail. Returns the names of those. */
export async function check(): Promise<string[]> {
  const failed = [await perform(generated), ...(await Promise.all(steps.map(perform)))].filter((step) => step !== null);
  for (const { name, remedy } of failed) process.stdout.write(`\n${name} failed. Remedy: ${remedy}\n`);
  return failed.map(({ name }) => name);
}

async function perform(step: Step): Promise<Step | null> {
  const startedAt = performance.now();
  const { succeeded, output } = await step.check();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(
    `${succeeded ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)\n${succeeded ? '' : `${output.trimEnd()}\n`}`,
  );
  return succeeded ? null : step;
}

if (import.meta.main) {
  const failed = await check();
  process.exitCode = failed.length > 0 ? 1 : 0;
}
