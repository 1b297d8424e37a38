import type { OwnVersion } from '@deedwire/core';
import type { FieldRef } from '@pothos/core';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { addChangeTo } from './add-change.ts';
import { addConnectionTo } from './add-connection.ts';
import type { AddChange } from './change-types.ts';
import type { AddConnection } from './connection-types.ts';
import type { ValueOf, VersionSchemaTypes, VersionTypes } from './version-types.ts';

type Builder<Types extends VersionTypes> = PothosSchemaTypes.SchemaBuilder<VersionSchemaTypes<Types>>;

/** What adds the types and root fields of the application to a version. */
export interface VersionParts<Types extends VersionTypes> {
  /** The builder of Pothos, as far as it adds types. Those of the SDL are checked by what `deedwire generate` has written of them. */
  builder: Pick<
    Builder<Types>,
    'args' | 'enumType' | 'inputType' | 'interfaceType' | 'objectField' | 'objectRef' | 'objectType' | 'unionType'
  >;
  /** Adds a field of `Query`. */
  query: <Name extends keyof Types['Query'] & string>(
    name: Name,
    field: (
      t: PothosSchemaTypes.QueryFieldBuilder<VersionSchemaTypes<Types>, object>,
    ) => FieldRef<VersionSchemaTypes<Types>, ValueOf<Types['Query'][Name]>, 'Query'>,
  ) => void;
  /** Adds a field of `Query` that lists rows of the caller, page by page. */
  connection: AddConnection<Types>;
  /** Adds a field of `Mutation`, whose change, event, audit entry and idempotency key are one transaction. */
  change: AddChange<Types>;
}

/**
 * Defines the types and root fields that a version of an interface has besides the common half. They must be those of its SDL.
 *
 * @param add is called once for each schema
 */
export function defineVersion<Types extends VersionTypes>(add: (parts: VersionParts<Types>) => void): OwnVersion {
  return {
    addTo(builder, connectionOf, version) {
      const actions: string[] = [];
      const whole: InterfaceSchemaBuilder = builder;
      // The same value: its types name those of one SDL.
      const own: Builder<Types> = builder;
      const given: ConnectionOf = connectionOf;
      add({
        builder: own,
        query: (name, field) => own.queryField(name, field),
        connection: addConnectionTo(whole, given),
        change: addChangeTo(whole, version, actions),
      });
      return actions;
    },
  };
}
