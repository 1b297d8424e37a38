import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';
import type { ResolverContext, VersionSchemaTypes, VersionTypes } from './version-types.ts';

type NodeOf<Connection> = Connection extends { nodes: readonly (infer Node)[] } ? Node : never;

export interface ConnectionOptions<
  Types extends VersionTypes,
  Name extends keyof Types['Query'],
  Row,
  Args extends InputFieldMap,
> {
  /** Of the nodes: what `builder.objectType` returns. */
  type: ObjectRef<VersionSchemaTypes<Types>, NodeOf<Types['Query'][Name]>>;
  /** Arguments besides `first` and `after`. */
  args?: (t: PothosSchemaTypes.QueryFieldBuilder<VersionSchemaTypes<Types>, object>['arg']) => Args;
  /**
   * Reads the next rows of the caller in the order of their ids, which `new_record_id()` makes: `limit` of them at most, after the one with
   * the id `after`. Null begins the list.
   */
  rows: (
    page: { after: string | null; limit: number },
    context: ResolverContext,
    args: InputShapeFromFields<Args>,
  ) => Promise<readonly Row[]>;
  node: (row: Row, context: ResolverContext) => NodeOf<Types['Query'][Name]>;
}

/**
 * Adds a field of `Query` with a page of a list, and its types: `visits(first: Int = 20, after: String): VisitConnection!`, `VisitConnection`
 * with `edges`, `nodes` and `pageInfo`, and `VisitEdge`.
 */
export type AddConnection<Types extends VersionTypes> = <
  Name extends keyof Types['Query'] & string,
  Row extends { id: string },
  Args extends InputFieldMap = InputFieldMap,
>(
  name: Name,
  options: ConnectionOptions<Types, Name, Row, Args>,
) => void;
