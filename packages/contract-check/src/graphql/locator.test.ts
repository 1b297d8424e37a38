import { expect, test } from 'vitest';
import { compareGraphql } from './compare-graphql.ts';

const from = `"The schema."
schema {
  query: Root
}

extend type Root {
  later: Int
}

type Root {
  field(
    first: Int
    filter: Filter
  ): Value
}

input Filter {
  name: String
}

enum Value {
  ONE
  TWO
}

directive @tag(
  name: String
) on FIELD

type Lost {
  a: Int
}

extend type Root {
  lost: Lost
}
`;

test('places each kind of element, and a removed one at the element around it', () => {
  const to = `# Two lines
# more than before.
${from
  .replace('The schema.', 'The other schema.')
  .replace('later: Int', 'later: Int!')
  .replace('first: Int\n', 'first: Int = 1\n')
  .replace('  name: String\n}', '}')
  .replace('input Filter {', 'input Filter {\n  other: Int')
  .replace('  TWO\n', '')
  .replace('name: String\n) on', 'name: String = "a"\n) on')
  .replace('type Lost {\n  a: Int\n}\n', '')
  .replace('  lost: Lost\n', '  lost: Int\n')}`;
  const { changes } = compareGraphql({ file: 'a', text: from }, { file: 'b', text: to });
  const places = changes.map(({ coordinate, location, oldLocation }) => [
    coordinate,
    `${location.file}:${location.line}`,
    oldLocation && `${oldLocation.file}:${oldLocation.line}`,
  ]);
  expect(Object.fromEntries(places.map(([coordinate, ...lines]) => [coordinate, lines]))).toEqual({
    schema: ['b:3', 'a:1'],
    'Root.later': ['b:9', 'a:7'],
    'Root.field(first:)': ['b:14', 'a:12'],
    'Filter.name': ['b:19', 'a:18'],
    'Filter.other': ['b:20', null],
    'Value.TWO': ['b:23', 'a:23'],
    '@tag(name:)': ['b:28', 'a:27'],
    Lost: ['b:null', 'a:30'],
    'Root.lost': ['b:33', 'a:35'],
  });
});

const sdl = (fields: string) => `type Query @key(fields: "${fields}", resolvable: true) @key(fields: [1]) { a: Int }`;

test('reports a directive that is not defined, and compares its applications', () => {
  const report = compareGraphql({ file: 'a', text: sdl('id') }, { file: 'b', text: `\n${sdl('id name')}` });
  expect(report.changes.map(({ rule, coordinate }) => [rule, coordinate])).toEqual([
    ['graphql/directiveUndecided', 'Query'],
  ]);
  expect(report.notices).toEqual([
    {
      location: { file: 'b', line: 2 },
      message: 'The schema does not define the directive @key. Only its applications are compared.',
    },
  ]);
});

test('reports an inconsistent deprecation, which does not stop the comparison', () => {
  const text = `type Query implements Node { id: ID @deprecated }\ninterface Node { id: ID }\ntype A { b(c: Int! @deprecated): Int }`;
  const { verdict, notices } = compareGraphql({ file: 'a', text }, { file: 'b', text });
  expect(verdict).toBe('none');
  expect(notices).toContainEqual({
    location: { file: 'b', line: 3 },
    message: 'Required argument A.b(c:) cannot be deprecated.',
  });
});

test('a directive that the schema defines is still checked', () => {
  const text = 'directive @key(fields: Int) on OBJECT type Query @key(field: 1) { a: Int }';
  expect(() => compareGraphql({ file: 'a', text }, { file: 'b', text })).toThrow(
    'Unknown argument "field" on directive "@key".',
  );
});
