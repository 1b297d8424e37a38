import { expect, test } from 'vitest';
import { unsupportedNode } from './supported-node.ts';

test.each(['20.20.2', '21.7.3', '22.11.0'])('refuses Node %s', (version) => {
  expect(unsupportedNode(version)).toBe(
    `needs Node 22.12, 24, or 26 or later, but runs on ${version}. Install one of these versions`,
  );
});

test.each(['22.12.0', '24.0.0', '26.10.0'])('runs on Node %s', (version) => {
  expect(unsupportedNode(version)).toBeNull();
});
