import { expect, test } from 'vitest';
import { composeSdl, ownFields } from './compose-sdl.ts';

const own = {
  path: 'own.graphql',
  text: `# Differences from before: none.

"""
Queries of the vendor interface.
"""
type Query {
  """
  Your vendor.
  """
  vendor: Vendor!
}

"""
Mutations of the vendor interface.
"""
type Mutation

# Written for those who change this file.
"A vendor."
type Vendor { id: ID! }
`,
};
const first = {
  path: 'first.graphql',
  text: `extend type Query {
  "All events."
  events(
    first: Int = 20
  ): [Event!]!
  hooks: [Hook!]!
}
extend type Mutation { hook: Hook }
type Event { id: ID! }
type Hook { id: ID!, number: Int! }
`,
  removes: [],
};
const later = {
  path: 'later.graphql',
  text: 'extend type Query { events: [Event!] }\n\ntype Event { key: ID! }\n\ntype Added { id: ID! }\n',
  removes: ['Query.hooks'],
};

test('copies each definition as it is, the own ones first, without comments between them', () => {
  expect(composeSdl('# Composed.', own, [first])).toBe(`# Composed.
# Differences from before: none.

"""
Queries of the vendor interface.
"""
type Query {
  """
  Your vendor.
  """
  vendor: Vendor!
  "All events."
  events(
    first: Int = 20
  ): [Event!]!
  hooks: [Hook!]!
}

"""
Mutations of the vendor interface.
"""
type Mutation {
  hook: Hook
}

"A vendor."
type Vendor { id: ID! }

type Event { id: ID! }

type Hook { id: ID!, number: Int! }
`);
});

test('a later edition replaces types and root fields where they were, adds others at the end, and removes some', () => {
  const composed = composeSdl('# Composed.', own, [first, later]);
  expect(composed).toContain('  vendor: Vendor!\n  events: [Event!]\n}');
  expect(composed.slice(composed.indexOf('type Event'))).toBe(
    'type Event { key: ID! }\n\ntype Hook { id: ID!, number: Int! }\n\ntype Added { id: ID! }\n',
  );
});

test('an edition can only remove something', () => {
  const removing = {
    path: 'later.graphql',
    text: '# Without hooks.\n',
    removes: ['Hook', 'Query.hooks', 'Mutation.hook'],
  };
  expect(composeSdl('# Composed.', own, [first, removing])).not.toMatch(/hook/i);
});

test.each([
  ['a type that the common half has', { own: 'type Hook { id: ID! }' }, 'own.graphql: Hook is in the common half'],
  [
    'a root field that it has',
    { own: 'events: Int', of: 'vendor: Vendor!' },
    'own.graphql: Query.events is in the common half',
  ],
  [
    'no Mutation',
    { own: '', of: '"""\nMutations of the vendor interface.\n"""\ntype Mutation\n' },
    'own.graphql: define type Mutation',
  ],
  ['an extension of an own type', { own: 'extend type Vendor { x: Int }' }, 'own.graphql: it cannot extend Vendor.'],
  ['a type twice', { own: 'type Vendor { x: Int }' }, 'own.graphql: it has Vendor twice.'],
  ['a schema', { own: 'schema { query: Query }' }, 'own.graphql: only types are composed, not SchemaDefinition.'],
  ['malformed SDL', { own: 'type {' }, /^Syntax Error: .*\n\nown\.graphql:\d+:\d+\n/],
])('refuses %s', (_, { own: added, of = '# Written' }: { own: string; of?: string }, message) => {
  const text = own.text.replace(of, `${added}\n${of.startsWith('#') ? of : ''}`);
  expect(() => composeSdl('# Composed.', { ...own, text }, [first])).toThrow(message);
});

test.each([
  [
    'a root type of an edition that is no extension',
    { text: 'type Query { a: Int }' },
    'later.graphql: write `extend type Query`.',
  ],
  [
    'a part of a type',
    { text: 'extend type Hook { name: String }' },
    'later.graphql: repeat the whole type Hook. Only Query and Mutation can be extended.',
  ],
  [
    'a directive of Query in an edition',
    { text: 'extend type Query @a' },
    'later.graphql: an edition adds only fields to Query.',
  ],
  [
    'a removed type that no edition has',
    { removes: ['Hooks'] },
    'later.graphql: it removes Hooks, which is no type or root field',
  ],
  [
    'a removed field that is none of a root',
    { removes: ['Hook.id'] },
    'later.graphql: it removes Hook.id, which is no type or root field',
  ],
])('refuses %s', (_, changed, message) => {
  expect(() => composeSdl('# Composed.', own, [first, { ...later, ...changed }])).toThrow(message);
});

test('lists the fields that only one interface has', () => {
  expect([...ownFields(own)]).toEqual(['Query.vendor', 'Vendor.id']);
});
