import type { UserError } from '@deedwire/actions';
import { changeOnce } from '@deedwire/actions/use-case';
import { storedSnapshot } from '@deedwire/append';
import type { FieldMap, InputFieldMap } from '@pothos/core';
import { addMutation } from '../schema/add-mutation.ts';
import { type InterfaceSchemaBuilder, uncheckedResult } from '../schema/builder.ts';
import type { AddChange } from './change-types.ts';
import { resolverContext } from './resolver-context.ts';
import type { VersionTypes } from './version-types.ts';

/**
 * @param version the date of the schema
 * @param actions gets those of the audit log
 */
export function addChangeTo<Types extends VersionTypes>(
  builder: InterfaceSchemaBuilder,
  version: string,
  actions: string[],
): AddChange<Types> {
  return (name, { input, codes, payload, action, run }) => {
    actions.push(action);
    addMutation<InputFieldMap, readonly string[], { userErrors: readonly UserError<string>[] }>(builder, name, {
      input: (t) => uncheckedResult(input(uncheckedResult(t))),
      codes,
      payload: (t): FieldMap => uncheckedResult(payload(uncheckedResult(t))),
      resolve(given, { actions: context, caller }) {
        const { idempotencyKey, ...details }: { idempotencyKey?: string | null } = { ...given };
        // A result that one version has saved can lack what another one returns.
        const request = { mutation: name, key: idempotencyKey, input: { version, ...details }, action };
        return changeOnce(context, caller, request, ({ transaction, append, refuse }) =>
          run(uncheckedResult(given), {
            ...resolverContext(context, transaction, caller),
            append: (event, snapshot) => append(event, uncheckedResult(storedSnapshot(event, snapshot))),
            refuse,
          }),
        );
      },
    });
  };
}
