import { type {{account}}, read{{account}}, update{{pascal}} } from '@deedwire/actions';
import { addMutation, type InterfaceSchemaBuilder } from '@deedwire/graphql-server';

/** Adds `{{account}}`, `Query.{{camel}}` and `Mutation.update{{pascal}}`. */
export function add{{account}}(builder: InterfaceSchemaBuilder): void {
  const AccountType = builder.objectRef<{{account}}>('{{account}}').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
    }),
  });

  builder.queryField('{{camel}}', (t) =>
    t.field({ type: AccountType, resolve: (_, _args, { actions, caller }) => read{{account}}(actions, caller) }),
  );

  addMutation(builder, 'update{{pascal}}', {
    input: (t) => ({ name: t.string({ required: true }) }),
    codes: ['NAME_INVALID'],
    resolve: (input, { actions, caller }) => update{{pascal}}(actions, caller, input),
    payload: (t) => ({ {{camel}}: t.expose('{{camel}}', { type: AccountType, nullable: true }) }),
  });
}
