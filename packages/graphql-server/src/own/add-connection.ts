import { keysetPage, orderOfIds } from '@deedwire/actions/use-case';
import type { InputFieldMap } from '@pothos/core';
import { type InterfaceSchemaBuilder, type ObjectTypeRef, uncheckedResult } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import type { AddConnection } from './connection-types.ts';
import type { VersionTypes } from './version-types.ts';

export function addConnectionTo<Types extends VersionTypes>(
  builder: InterfaceSchemaBuilder,
  connectionOf: ConnectionOf,
): AddConnection<Types> {
  const refs = new Map<string, ObjectTypeRef<never>>();
  return (name, { type, args, rows, node }) => {
    const Node: ObjectTypeRef<object> = uncheckedResult(type);
    const typeName = builder.configStore.getTypeConfig(Node).name;
    const Connection = refs.get(typeName) ?? connectionOf(typeName, Node);
    refs.set(typeName, uncheckedResult(Connection));
    builder.queryField(name, (t) => {
      const own: InputFieldMap = args === undefined ? {} : uncheckedResult(args(uncheckedResult(t.arg)));
      return t.field({
        type: uncheckedResult(Connection),
        args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string(), ...own },
        resolve: (_, { first, after, ...given }, context) =>
          uncheckedResult(
            keysetPage(
              orderOfIds(name),
              { first, after },
              async (page) => uncheckedResult(await rows(page, context, uncheckedResult(given))),
              (row) => node(uncheckedResult(row), context),
            ),
          ),
      });
    });
  };
}
