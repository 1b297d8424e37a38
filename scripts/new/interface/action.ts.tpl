import { describeLength, formatAccountGid, isAccountName, toRecordId } from '@deedwire/domain';
import { save{{pascal}}Name, select{{pascal}}Name } from '@deedwire/store/{{name}}';
import { appendEvent } from './append-event.ts';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller } from './context.ts';
import { inputError, type MutationResult } from './errors.ts';

/** `{{account}}` of the {{words}} interface. */
export interface {{account}} {
  id: string;
  name: string;
}

/** The calling account. */
export async function read{{account}}({ store, gidNamespace }: ActionContext, caller: Caller): Promise<{{account}}> {
  const id = formatAccountGid(gidNamespace, '{{name}}', caller.accountId);
  return { id, name: await select{{pascal}}Name(store, caller.accountId) };
}

// TODO: decide what clients of this interface change, and whether it identifies a person (packages/domain/src/personal-data.ts). This first action shows where the rules, the record and the event belong.
/** Renames the caller. Appends `{{snake}}.updated`, unless the caller gave itself this name before. */
export async function update{{pascal}}(
  { store, gidNamespace }: ActionContext,
  caller: Caller,
  { name }: { name: string },
): Promise<MutationResult<{ {{camel}}: {{account}} }, 'NAME_INVALID'>> {
  if (!isAccountName(name)) {
    const message = `The name must be 1 to 200 characters and not blank. It has ${describeLength(name)}.`;
    return { {{camel}}: null, userErrors: [inputError('NAME_INVALID', 'name', message)] };
  }
  const id = formatAccountGid(gidNamespace, '{{name}}', caller.accountId);
  const account = { id: caller.accountId, interfaceName: '{{name}}' } as const;
  await store.transaction(async (transaction) => {
    if (!(await save{{pascal}}Name(transaction, caller.accountId, name))) return;
    await appendAuditEntry(transaction, caller, { action: '{{snake}}_name.update', subject: id, account });
    const recordId = toRecordId<'{{account}}'>(caller.accountId);
    await appendEvent(transaction, account, '{{snake}}.updated', recordId, { {{camel}}: { id, name } }, caller);
  });
  return { {{camel}}: { id, name }, userErrors: [] };
}
