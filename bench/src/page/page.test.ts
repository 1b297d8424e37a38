import { expect, it } from 'vitest';
import { regions } from './tables.ts';
import { fillRegions, readDocs, readResults, withPart } from './write-page.ts';

it('fills the regions and keeps the text around them', () => {
  const page =
    'Before\n\n<!-- bench: rates -->\n\nold\n\n<!-- /bench -->\n\nBetween\n\n<!-- bench: cost -->\n<!-- /bench -->\n';
  expect(fillRegions(page, { rates: 'new', cost: '$1' })).toBe(
    'Before\n\n<!-- bench: rates -->\n\nnew\n\n<!-- /bench -->\n\nBetween\n\n<!-- bench: cost -->\n\n$1\n\n<!-- /bench -->\n',
  );
});

it('rejects a region without results and results without a region', () => {
  const page = '<!-- bench: rates -->\n<!-- /bench -->\n';
  expect(() => fillRegions(page, {})).toThrow('There are no results for the region "rates".');
  expect(() => fillRegions(page, { rates: 'a', cost: 'b' })).toThrow('The page has no region for cost.');
});

it('a part replaces what is stored of it, with its commit', () => {
  const stored = { latency: 1, store: 2, commits: { latency: 'old', store: 'old' } };
  const part = { store: 3, commits: { store: 'new' } };
  expect(withPart(stored, part)).toEqual({ latency: 1, store: 3, commits: { latency: 'old', store: 'new' } });
});

// `pnpm bench page` writes it. `bench/test/charts.test.ts` compares the charts, for which the peers have to be installed.
it('docs/performance.md is what the results in bench/results produce', () => {
  const page = readDocs('performance.md');
  expect(fillRegions(page, regions(readResults()))).toBe(page);
});
