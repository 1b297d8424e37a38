import type { UserError } from '@deedwire/actions';
import type { FieldMap, InputFieldMap, InputShapeFromFields } from '@pothos/core';
import {
  type InputTypeRef,
  type InterfaceSchemaBuilder,
  type ObjectTypeRef,
  type SchemaTypes,
  uncheckedResult,
} from './builder.ts';
import type { CheckId } from './check-id.ts';
import type { OperationContext } from './operation-context.ts';

/** What the use case of a mutation returns. */
interface MutationResult<Code extends string> {
  userErrors: readonly UserError<Code>[];
  /** The mutation did not run, because it ran before with the same idempotency key. */
  isRepeated?: boolean;
}

export interface MutationOptions<Fields extends InputFieldMap, Codes, Result> {
  input: (t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) => Fields;
  /** At least those that the use case can return. */
  codes: Codes;
  /** The identifier in the input, which is checked first unless it is omitted or null. */
  id?: { checkId: CheckId; name: keyof Fields & string; typeName: Parameters<CheckId>[1] };
  resolve: (input: InputShapeFromFields<Fields>, context: OperationContext) => Result | Promise<Result>;
  /** The fields of the payload besides `userErrors`. */
  payload: (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Result>) => FieldMap;
}

/**
 * Adds `Mutation.<name>` with its types `<Name>Input`, `<Name>Payload`, `<Name>UserError` and `<Name>UserErrorCode`.
 *
 * @param name begins with a small letter
 */
export function addMutation<
  Fields extends InputFieldMap,
  const Codes extends readonly string[],
  Result extends MutationResult<Codes[number]>,
>(
  builder: InterfaceSchemaBuilder,
  name: string,
  { input, codes, id, resolve, payload }: MutationOptions<Fields, Codes, Result>,
): void {
  const typeName = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const Input: InputTypeRef<object> = uncheckedResult(builder.inputType(`${typeName}Input`, { fields: input }));
  const Code = builder.enumType(`${typeName}UserErrorCode`, { values: codes });
  const Failure = builder.objectRef<UserError<string>>(`${typeName}UserError`).implement({
    interfaces: uncheckedResult(['UserError']),
    fields: (t) => ({ code: t.field({ type: Code, resolve: ({ code }) => uncheckedResult(code) }) }),
  });
  const Payload = builder.objectRef<Result>(`${typeName}Payload`);
  Payload.implement({
    fields: (t) => ({
      ...payload(t),
      userErrors: t.field({ type: [Failure], resolve: ({ userErrors }) => uncheckedResult(userErrors) }),
    }),
  });
  const Type: ObjectTypeRef<object> = uncheckedResult(Payload);
  builder.mutationField(name, (t) =>
    t.field({
      type: Type,
      args: { input: t.arg({ type: Input, required: true }) },
      async resolve(_, given, context) {
        const value: unknown = id && Reflect.get(given.input, id.name);
        if (id && typeof value === 'string') id.checkId(context, id.typeName, `input.${id.name}`, value);
        const result = await resolve(uncheckedResult(given.input), context);
        if (result.isRepeated === true) context.extensions.idempotency = { replayed: true };
        return result;
      },
    }),
  );
}
