import { describe, expect, test } from 'vitest';
import { inDependencyOrder, planRelease, type WorkspacePackage } from './plan.ts';
import { ReleaseError } from './release-error.ts';

function named(name: string, kind: WorkspacePackage['kind'], dependencies: string[] = []): WorkspacePackage {
  const path = `packages/${name}`;
  return { name, kind, dependencies, devDependencies: [], version: '1.1.0', path, hasRepository: true };
}

const packages = [named('api', 'app', ['schema']), named('inner', 'internal'), named('schema', 'public')];
const namesOf = (list: WorkspacePackage[]): string[] => list.map(({ name }) => name);

describe('planRelease()', () => {
  test.each<[string, Record<string, string[]>, string[], { publish: string[]; tag: string[] }]>([
    ['nothing is released', {}, [], { publish: ['schema'], tag: ['api', 'schema'] }],
    ['an older version is', { schema: ['1.0.0'] }, ['schema@1.0.0'], { publish: ['schema'], tag: ['api', 'schema'] }],
    ['published, and interrupted before the tag', { schema: ['1.1.0'] }, [], { publish: [], tag: ['api', 'schema'] }],
    ['everything is', { schema: ['1.0.0', '1.1.0'] }, ['api@1.1.0', 'schema@1.1.0'], { publish: [], tag: [] }],
  ])('%s', (_, published, tags, expected) => {
    const plan = planRelease(packages, { published: new Map(Object.entries(published)), tags: new Set(tags) });
    expect({ publish: namesOf(plan.publish), tag: namesOf(plan.tag) }).toEqual(expected);
  });
});

test('puts a package after its dependencies', () => {
  const list = [named('a', 'public', ['b', 'zod']), named('b', 'public', ['c']), named('c', 'public')];
  expect(namesOf(inDependencyOrder(list))).toEqual(['c', 'b', 'a']);
});

test('rejects a dependency cycle', () => {
  const list = [named('a', 'public', ['b']), named('b', 'public', ['a'])];
  expect(() => inDependencyOrder(list)).toThrow(
    new ReleaseError('These packages depend on each other in a cycle: a, b'),
  );
});
