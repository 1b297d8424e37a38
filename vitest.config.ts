import { registerHooks } from 'node:module';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Node loads the tests and the modules that they import, as it loads the apps. Vite's runner takes a third more CPU time. The condition
// resolves our packages to their sources: here for the global setups, which this process loads.
const condition = 'deedwire-source';
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(specifier, { ...context, conditions: [...context.conditions, condition] }),
});
const shared = { experimental: { viteModuleRunner: false } };
// In a workflow, `contract-check` would look for the target of our pull request in the repositories that tests create.
const env = { GITHUB_ACTIONS: '', GITHUB_BASE_REF: '' };
// The young generation of the processes of vitest: with the default, copying survivors takes an eighth of the CPU time.
const execArgv = [`--conditions=${condition}`, '--max-semi-space-size=32', '--no-parallel-scavenge'];
// The times guard against hanging only. A busy machine can need many times the usual duration.
const bounds = {
  ...shared,
  env,
  execArgv,
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};
const slow = ['**/node_modules/**', '**/test/{full,long,deploy}/**', '**/test/firm/{full,long,deploy}/**'];
const postgres = './tools/embedded-postgres/src/vitest-global-setup.ts';
const built = './tools/contract-tests/test/support/built-workspace.ts';
const packages = './tools/contract-tests/test/support/packed-packages.ts';
const apps = './tools/dev-environment/test/harness/shared-apps.ts';
const portal = './tools/dev-environment/test/harness/built-portal.ts';

/**
 * The files of each project that take longest, which start first, so that no run ends with one of them alone. Those that wait most
 * are between those that need the CPU.
 */
const longest = [
  'tools/contract-tests/test/faults.test.ts',
  'tools/dev-environment/test/firm/demo.test.ts',
  'tools/contract-tests/test/portal.test.ts',
  'tools/contract-tests/test/webhook-worker/isolation.test.ts',
  'packages/webhooks/src/dispatch/fairness.test.ts',
  'packages/contract-check/src/workspace/merged-state.test.ts',
  'packages/contract-check/src/workspace/attacks.test.ts',
  'tools/contract-tests/test/firm/full/without-sample.test.ts',
  'tools/contract-tests/test/full/person-erase.test.ts',
  'tools/contract-tests/test/firm/full/operations.test.ts',
  'tools/contract-tests/test/full/portal-session.test.ts',
  'packages/service/test/full/check-against.test.ts',
  'packages/contract-check/test/full/outside.test.ts',
  'tools/generate/test/full/folder-with-a-service.test.ts',
  'tools/contract-tests/test/full/person-erase-named.test.ts',
  'tools/contract-tests/test/full/portal-pages.test.ts',
  'tools/contract-tests/test/full/gate-per-app.test.ts',
  'tools/dev-environment/test/firm/full/site.test.ts',
  'tools/contract-tests/test/full/your-service.test.ts',
  'tools/contract-tests/test/full/portal-actions.test.ts',
  'tools/dev-environment/test/firm/full/readme.test.ts',
  'tools/contract-tests/test/full/homes.test.ts',
  'tools/dev-environment/test/full/served-folder.test.ts',
  'tools/contract-tests/test/firm/full/keep-alive.test.ts',
  'packages/webhook-receiver/test/full/poison.test.ts',
  'tools/contract-tests/test/full/reconcile.test.ts',
  'tools/contract-tests/test/full/connection-faults.test.ts',
  'tools/contract-tests/test/full/graphiql.test.ts',
  'packages/webhook-receiver/test/full/reconcile.test.ts',
  'packages/actions/test/full/query-plans.test.ts',
  'tools/contract-tests/test/full/webhook-worker/alerts.test.ts',
  'tools/contract-tests/test/full/replay-kills.test.ts',
  'tools/checks/test/full/release-scripts.test.ts',
  'packages/store/test/full/database-risks.test.ts',
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.indexOf(relative(import.meta.dirname, moduleId));
  return place === -1 ? longest.length : place;
};

/** What the files of one worker could change for each other. */
const commandNames = './packages/core/test/command-names.ts';

/**
 * vitest starts the largest files first, unless it has run them before in this folder. The projects are in the order of their names:
 * `integration` waits most, and `unit`, whose many short files need the CPU only, keeps all workers busy until the end.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => a.project.name.localeCompare(b.project.name) || placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    ...shared,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    // Many tests wait for retries, leases and processes: with seven workers, two cores are idle for 2 % of the time, with four for a third.
    maxWorkers: 7,
    // `isolate: false` below: a worker runs many files, which share the modules that they import. Starting a process and loading
    // the modules for each file takes a third of the CPU time. So a hook belongs in a test file or in a function that it calls,
    // not at the top of a module that several test files import.
    projects: [
      {
        test: {
          name: 'unit',
          isolate: false,
          setupFiles: commandNames,
          ...bounds,
          // Without the peers of the benches, which `bench/test/long/checks.test.ts` installs: tests that need them are in `bench/test`.
          include: ['{packages,apps,tools}/*/src/**/*.test.ts', 'bench/src/**/*.test.ts'],
        },
      },
      {
        test: {
          name: 'integration',
          isolate: false,
          setupFiles: commandNames,
          include: ['{packages,apps,tools}/*/test/**/*.test.ts'],
          exclude: slow,
          ...bounds,
          globalSetup: [portal, postgres, apps],
        },
      },
      {
        // Slow tests: `pnpm test:full`.
        test: {
          name: 'full',
          isolate: false,
          setupFiles: commandNames,
          include: ['{packages,apps,tools}/*/test/full/**/*.test.ts', '{packages,tools}/*/test/firm/full/**/*.test.ts'],
          ...bounds,
          globalSetup: [built, postgres, packages, apps],
        },
      },
      {
        // Run by a test of `long`, after it has installed the dependencies of `bench/`.
        test: {
          name: 'bench',
          include: ['bench/test/*.test.ts'],
          ...bounds,
          globalSetup: postgres,
        },
      },
      {
        // Builds and runs the container images: `pnpm test:deploy`.
        test: {
          name: 'deploy',
          include: ['{packages,apps,tools}/*/test/firm/deploy/**/*.test.ts'],
          ...bounds,
          globalSetup: [postgres, './tools/dev-environment/test/deploy/support/built-images.ts'],
        },
      },
      {
        // What takes minutes or hours: before a release, and parts of it every night.
        test: {
          name: 'long',
          include: [
            '{packages,apps,tools}/*/test/long/**/*.test.ts',
            'tools/*/test/firm/long/**/*.test.ts',
            'bench/test/long/**/*.test.ts',
          ],
          ...bounds,
          testTimeout: 6 * 3_600_000,
          hookTimeout: 3_600_000,
          globalSetup: [portal, postgres, packages],
        },
      },
    ],
  },
});
