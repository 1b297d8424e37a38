/** The texts of two versions of a schema. */
export interface Chain {
  from: string;
  to: string;
}

/** A schema of definitions that each refer to the next one. Its other version changes one property of each. */
export function chainOfDefinitions(count: number): Chain {
  const definitions = Array.from({ length: count }, (_, i) => [
    `T${i}`,
    {
      type: 'object',
      properties: { id: { type: 'string' }, next: { $ref: `#/$defs/T${(i + 1) % count}` } },
      required: ['id'],
    },
  ]);
  const from = JSON.stringify({ $ref: '#/$defs/T0', $defs: Object.fromEntries(definitions) });
  return { from, to: from.replaceAll('"string"', '["string","null"]') };
}

/** SDL of types that each have a field of the next one. Its other version changes one field of each. */
export function chainOfTypes(count: number): Chain {
  const types = Array.from(
    { length: count },
    (_, i) => `type T${i} { id: ID! name: String next(first: Int = 1): [T${(i + 1) % count}!]! }`,
  );
  const from = `type Query { t: T0 }\n${types.join('\n')}`;
  return { from, to: from.replaceAll('name: String', 'name: String!') };
}

/** A small schema whose `anyOf` combine in more ways than can be compared. */
export function nestedChoices(maxLength: number): Record<string, unknown> {
  const depth = 40;
  const choices = Array.from({ length: depth }, (_, level) => {
    const next = { $ref: `#/$defs/a${level + 1}` };
    return [`a${level}`, { anyOf: [next, next] }] as const;
  });
  return {
    $ref: '#/$defs/a0',
    $defs: { ...Object.fromEntries(choices), [`a${depth}`]: { type: 'string', maxLength } },
  };
}

/** Definitions that are each a reference to the next one. The last one is a text. */
export function linkedDefinitions(count: number): Record<string, unknown> {
  const links = Array.from({ length: count }, (_, i) => [`a${i}`, { $ref: `#/$defs/a${i + 1}` }]);
  return { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(links), [`a${count}`]: { type: 'number' } } };
}
