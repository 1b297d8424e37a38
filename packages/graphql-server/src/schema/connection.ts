import type { Page } from '@deedwire/actions';
import { type InterfaceSchemaBuilder, type ObjectTypeRef, uncheckedResult } from './builder.ts';

/**
 * Adds the connection and edge types of a node type.
 *
 * @param addFields adds fields that other connections do not have
 */
export type ConnectionOf = <Node extends object, NodePage extends Page<Node> = Page<Node>>(
  name: string,
  NodeRef: ObjectTypeRef<Node>,
  addFields?: (Edge: ObjectTypeRef<Page<Node>['edges'][number]>, Connection: ObjectTypeRef<NodePage>) => void,
) => ObjectTypeRef<NodePage>;

/**
 * Adds `PageInfo` and returns a function that adds a forward-only connection: `connectionOf('Order', Order)` adds
 * `OrderConnection` and `OrderEdge`. Pothos' relay plugin is not used, because its connections also page backward,
 * which the contract does not allow.
 */
export function addConnections(builder: InterfaceSchemaBuilder): ConnectionOf {
  const PageInfo = builder.objectRef<Page<unknown>>('PageInfo').implement({
    fields: (t) => ({
      startCursor: t.string({ nullable: true, resolve: ({ edges }) => edges[0]?.cursor ?? null }),
      endCursor: t.exposeString('endCursor', { nullable: true }),
      hasNextPage: t.exposeBoolean('hasNextPage'),
      hasPreviousPage: t.exposeBoolean('hasPreviousPage'),
    }),
  });

  return <Node extends object, NodePage extends Page<Node> = Page<Node>>(
    name: string,
    NodeRef: ObjectTypeRef<Node>,
    addFields?: (Edge: ObjectTypeRef<Page<Node>['edges'][number]>, Connection: ObjectTypeRef<NodePage>) => void,
  ) => {
    const Edge = builder.objectRef<Page<Node>['edges'][number]>(`${name}Edge`);
    Edge.implement({
      fields: (t) => ({
        cursor: t.exposeString('cursor'),
        node: t.field({ type: NodeRef, resolve: ({ node }) => uncheckedResult(node) }),
      }),
    });
    const Connection = builder.objectRef<NodePage>(`${name}Connection`);
    Connection.implement({
      fields: (t) => ({
        edges: t.field({ type: [Edge], resolve: ({ edges }) => edges }),
        nodes: t.field({ type: [NodeRef], resolve: ({ edges }) => edges.map(({ node }) => uncheckedResult(node)) }),
        pageInfo: t.field({ type: PageInfo, resolve: (page) => page }),
      }),
    });
    addFields?.(Edge, Connection);
    return Connection;
  };
}
