import { expect, test } from 'vitest';
import { nodeProblem } from './check-node.ts';

const app = { name: '@deedwire/supplier-api', engines: { node: '>=22.19' } };

test.each(['18.20.8', '20.20.2', '22.9.0', '22.18.0'])('refuses Node %s', (version) => {
  expect(nodeProblem(app, version)).toBe(
    `@deedwire/supplier-api needs Node 22.19 or later, but runs on ${version}. Install a later version.`,
  );
});

test.each(['22.19.0', '22.100.1', '24.0.0', '26.10.0', '27.0.0-nightly20261101'])('accepts Node %s', (version) => {
  expect(nodeProblem(app, version)).toBeNull();
});
