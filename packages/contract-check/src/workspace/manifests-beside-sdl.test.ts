import { expect, test } from 'vitest';
import { folderForTest } from '../../test/support/folders.ts';
import { repositoryIn } from '../../test/support/gated-repository.ts';
import { commitRelease } from '../../test/support/git.ts';

// Manifests that the configuration lists in the folder of their SDL.

const contracts = [
  { kind: 'graphql', folder: 'api', files: ['*.graphql'], package: 'books' },
  { kind: 'manifest', folder: 'api', files: ['own/*.manifest.json'], package: 'books' },
];

function repository(listed: readonly object[]) {
  const root = folderForTest();
  const { write, check } = repositoryIn(() => root);
  const release = (fields: string, abilities: object): void =>
    write({
      'api/2026-01-01.graphql': `type Query {\n${fields}}\n`,
      'api/own/2026-01-01.manifest.json': { abilities },
    });
  write({
    'contract-check.json': { contracts: listed },
    'package.json': { name: 'books', version: '1.0.0', private: true },
    'api/versions.json': { '2026-01-01': { status: 'current' } },
  });
  release('  a: Int\n  b: Int\n', { 'Query.a': ['READ'] });
  commitRelease(root);
  return { write, release, check };
}

test('a field that the released SDL lacks can need an ability, and another one cannot', async () => {
  const { release, check } = repository(contracts);
  release('  a: Int\n  b: Int\n  c: Int\n', { 'Query.a': ['READ'], 'Query.c': ['READ'] });
  expect(await check({ declared: 'minor' })).toMatchObject({
    codes: [],
    rules: ['graphql/fieldAdded', 'manifest/abilityAddedWithNew'],
  });
  release('  a: Int\n  b: Int\n', { 'Query.a': ['READ'], 'Query.b': ['READ'] });
  expect(await check({ declared: 'minor' })).toMatchObject({
    codes: ['released-version-broken'],
    rules: ['manifest/abilityRaised'],
  });
});

test('changes cannot choose the SDL by which a field is new', async () => {
  const { release, write, check } = repository(contracts.slice(1));
  write({ 'contract-check.json': { contracts } });
  release('  a: Int\n  b: Int\n', { 'Query.a': ['READ'], 'Query.c': ['READ'] });
  expect(await check({ declared: 'minor' })).toMatchObject({ codes: ['released-version-broken'] });
});
