/**
 * `node scripts/test.ts [check] <vitest project>… [file]`: the script behind `pnpm test`, `pnpm test:full [file]`,
 * `pnpm test:faults`, `pnpm test:deploy [file]` and `pnpm test:long [file]`. A part of a path runs only the files that contain it. The last line of
 * output is always `N passed, N failed, N skipped`. The exit code is 0 if at least one test ran and none failed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { startVitest, type TestModule, type Vitest } from 'vitest/node';
import { check } from './check.ts';
import { endWithReader } from './end-with-reader.ts';

endWithReader();

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const projects = ['unit', 'integration', 'full', 'deploy', 'long'];

async function run(parts: readonly string[]): Promise<Counts> {
  if (parts.includes('check')) {
    const { length: failed } = await check({ withUnitTests: !parts.includes('unit') });
    if (failed > 0) {
      process.stdout.write('\nSkipped the tests because a check failed.\n');
      return { passed: 0, failed, skipped: 0 };
    }
  }
  const files = parts.filter((part) => part !== 'check' && !projects.includes(part));
  const vitest = await startVitest(files, { project: parts.filter((part) => projects.includes(part)), run: true });
  const counts = count(vitest);
  await vitest.close();
  return counts;
}

function count(vitest: Vitest): Counts {
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const ofState = (state: string): number => tests.filter((test) => test.result().state === state).length;
  // A file that fails to load or a failing hook does not appear among the tests.
  const broken = modules.map(brokenSuites).reduce((sum, number) => sum + number, 0);
  return {
    passed: ofState('passed'),
    failed: ofState('failed') + ofState('pending') + broken + vitest.state.getUnhandledErrors().length,
    skipped: ofState('skipped'),
  };
}

function brokenSuites(module: TestModule): number {
  return [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0).length;
}

// Node keeps compiled modules there, because hundreds of processes of this run load the same modules.
const compiled = mkdtempSync(join(tmpdir(), 'deedwire-compiled-'));
process.env['NODE_COMPILE_CACHE'] ??= compiled;

let counts: Counts;
try {
  counts = await run(process.argv.slice(2));
} catch (error) {
  process.stdout.write(`${inspect(error)}\n`);
  counts = { passed: 0, failed: 1, skipped: 0 };
}
try {
  // A process that is ending may still write to it.
  rmSync(compiled, { recursive: true, force: true, maxRetries: 10 });
} catch (error) {
  process.stderr.write(`Cannot delete ${compiled}: ${inspect(error)}\n`);
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0);
