import { visit, type DocumentNode, type NameNode } from 'graphql';
import type { Locator } from '../location.ts';

/** The lines of the elements of a schema, by coordinate. An element that is extended is at its definition. */
export function graphqlLocator(file: string, document: DocumentNode): Locator {
  const lines = new Map<string, number>();
  const add = (coordinate: string, name: NameNode): void => {
    if (name.loc !== undefined && !lines.has(coordinate)) lines.set(coordinate, name.loc.startToken.line);
  };

  // Definitions first, because an extension may precede the definition that it extends.
  const definitions = document.definitions.toSorted((a, b) => Number(isExtension(a)) - Number(isExtension(b)));
  for (const node of definitions) {
    if (node.kind === 'SchemaDefinition' && node.loc !== undefined) lines.set('schema', node.loc.startToken.line);
    if (!('name' in node) || node.name === undefined) continue;
    const owner = node.kind.startsWith('Directive') ? `@${node.name.value}` : node.name.value;
    add(owner, node.name);
    // The coordinate of the field around an argument, or of the directive.
    let field = owner;
    visit(node, {
      FieldDefinition({ name }) {
        field = `${owner}.${name.value}`;
        add(field, name);
      },
      EnumValueDefinition: ({ name }) => add(`${owner}.${name.value}`, name),
      InputValueDefinition({ name }) {
        const isInputField = node.kind.startsWith('InputObject');
        add(isInputField ? `${owner}.${name.value}` : `${field}(${name.value}:)`, name);
      },
    });
  }
  return { file, lineOf: (coordinate) => lines.get(coordinate) ?? null, parentOf };
}

function isExtension({ kind }: DocumentNode['definitions'][number]): boolean {
  return kind.endsWith('Extension');
}

/** `Query.ledger(id:)` is in `Query.ledger`, which is in `Query`. */
function parentOf(coordinate: string): string | null {
  const end = Math.max(coordinate.lastIndexOf('('), coordinate.lastIndexOf('.'));
  return end === -1 ? null : coordinate.slice(0, end);
}
