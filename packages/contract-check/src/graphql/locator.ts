import { visit, type ASTNode, type DocumentNode, type NameNode } from 'graphql';
import type { Location, Locator } from '../change.ts';

/** The place of a node. Null if the schema is not from SDL. */
export function locationOfNode({ loc }: ASTNode): Location | null {
  return loc === undefined ? null : { file: loc.source.name, line: loc.startToken.line };
}

/** The places of the elements of a schema, by coordinate. An element that is extended is at its definition. */
export function graphqlLocator(file: string, document: DocumentNode): Locator {
  const locations = new Map<string, Location>();
  const add = (coordinate: string, name: NameNode): void => {
    // An element of an introspection result has no line, but the contract has it.
    if (!locations.has(coordinate)) locations.set(coordinate, locationOfNode(name) ?? { file, line: null });
  };

  // Definitions first, because an extension may precede the definition that it extends.
  const definitions = document.definitions.toSorted((a, b) => Number(isExtension(a)) - Number(isExtension(b)));
  for (const node of definitions) {
    if (node.kind === 'SchemaDefinition') locations.set('schema', locationOfNode(node) ?? { file, line: null });
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
  return { file, locationOf: (coordinate) => locations.get(coordinate) ?? null, parentOf };
}

function isExtension({ kind }: DocumentNode['definitions'][number]): boolean {
  return kind.endsWith('Extension');
}

/** `Query.ledger(id:)` is in `Query.ledger`, which is in `Query`. */
function parentOf(coordinate: string): string | null {
  const end = Math.max(coordinate.lastIndexOf('('), coordinate.lastIndexOf('.'));
  return end === -1 ? null : coordinate.slice(0, end);
}
