import { expect, test } from 'vitest';
import { entryPointsOf } from './tarball.ts';

test('lists the entry points that have types, with patterns expanded', () => {
  const exports = {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './2*': { types: './dist/generated/2*.d.ts', default: './dist/generated/2*.js' },
    './2*.graphql': './versions/2*.graphql',
  };
  const paths = ['dist/index.d.ts', 'dist/generated/2026-11-01.d.ts', 'dist/generated/2026-11-01.js', 'dist/2.d.ts'];
  expect(entryPointsOf(exports, paths)).toEqual([
    { name: '.', declarations: 'dist/index.d.ts' },
    { name: './2026-11-01', declarations: 'dist/generated/2026-11-01.d.ts' },
  ]);
});
