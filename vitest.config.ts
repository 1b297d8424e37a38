import { defineConfig } from 'vitest/config';

// The conditions that Node itself applies, and ours for sources. Vite's own list holds `development`, under which
// graphql 17 resolves to another file than the one Node loads: two copies of graphql, "from another module or realm".
// `import` and `default` are always applied; listed here, vitest would pass them to Node, where `import` would also
// answer a `require`.
const conditions = ['deedwire-source', 'node', 'module-sync'];
const shared = { ssr: { resolve: { conditions, externalConditions: conditions } } };
const slow = ['**/node_modules/**', '**/test/full/**'];
const withPostgres = {
  globalSetup: './tools/embedded-postgres/src/vitest-global-setup.ts',
  hookTimeout: 60_000,
};

export default defineConfig({
  ...shared,
  test: {
    reporters: ['default'],
    // Many tests wait, for retries, leases and processes: more of them fit on two cores than two.
    maxWorkers: 3,
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          // Against hanging alone: a busy machine takes many times as long.
          testTimeout: 60_000,
          include: ['{packages,apps,tools}/*/src/**/*.test.ts'],
        },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          include: ['{packages,apps,tools}/*/test/**/*.test.ts'],
          exclude: slow,
          testTimeout: 60_000,
          ...withPostgres,
        },
      },
      {
        ...shared,
        // What is slow by nature: `pnpm test:full`.
        test: {
          name: 'full',
          include: ['{packages,apps,tools}/*/test/full/**/*.test.ts'],
          testTimeout: 120_000,
          ...withPostgres,
        },
      },
    ],
  },
});
