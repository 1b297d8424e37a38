import type { UserError } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from './builder.ts';
import { uncheckedResult } from './unchecked-result.ts';

/** Adds the interface of all user errors, which `addUserError` needs. */
export function addUserErrorInterface(builder: InterfaceSchemaBuilder): void {
  builder.interfaceType('UserError', {
    fields: (t) => ({
      message: t.exposeString('message'),
      field: t.exposeStringList('field', { nullable: true }),
    }),
  });
}

/** Adds `<Mutation>UserError` and its enum of codes. */
export function addUserError<const Codes extends readonly string[]>(
  builder: InterfaceSchemaBuilder,
  mutation: string,
  codes: Codes,
): ObjectTypeRef<UserError<Codes[number]>> {
  const Code = builder.enumType(`${mutation}UserErrorCode`, { values: codes });
  return builder.objectRef<UserError<Codes[number]>>(`${mutation}UserError`).implement({
    interfaces: uncheckedResult(['UserError']),
    fields: (t) => ({
      code: t.field({ type: Code, resolve: ({ code }) => uncheckedResult(code) }),
    }),
  });
}
