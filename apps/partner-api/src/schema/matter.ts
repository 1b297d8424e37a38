import type { Matter } from '@deedwire/firm/partner';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';

export type MatterRef = ObjectTypeRef<Matter>;

/** Adds `Matter`. */
export function addMatter(builder: InterfaceSchemaBuilder): MatterRef {
  return builder.objectRef<Matter>('Matter').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      reference: t.exposeString('reference'),
      openedAt: t.expose('openedAt', { type: 'DateTime' }),
    }),
  });
}
