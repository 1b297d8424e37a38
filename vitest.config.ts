import { defineConfig } from 'vitest/config';

// The conditions Node itself applies, and ours for sources. Vite's own list holds `development`, under which graphql 17
// resolves to another file than the one Node loads: two copies of graphql, "from another module or realm".
const conditions = ['deedwire-source', 'node', 'module-sync', 'import', 'default'];
const shared = { ssr: { resolve: { conditions, externalConditions: conditions } } };

export default defineConfig({
  ...shared,
  test: {
    reporters: ['default'],
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'apps/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
        },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          include: ['packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
