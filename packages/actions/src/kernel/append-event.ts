import type { AccountId, EventDefinition, InterfaceName, RecordId } from '@deedwire/core';
import type { InsertedRow, Transaction } from '@deedwire/store';
import { eventRow, insertEvent } from '@deedwire/webhooks/outbox';
import type { Caller } from './context.ts';

interface EventAccount {
  id: AccountId;
  interfaceName: InterfaceName;
}

/** What an event keeps of its caller. */
export type EventCause = Pick<Caller, 'requestId' | 'traceParent'>;

export function originOfCause(cause: EventCause | undefined) {
  const { requestId = null, traceParent } = cause ?? {};
  return { requestId, ...(traceParent !== undefined && { traceParent }) };
}

/**
 * Appends the event that reports a change to an account, in the transaction of the change.
 *
 * @param cause the caller of the API request that made the change. Omitted for changes by an operator.
 */
export async function appendEvent<Snapshot extends object, RecordType extends string>(
  transaction: Transaction,
  account: EventAccount,
  { type }: EventDefinition<Snapshot, RecordType>,
  recordId: RecordId<NoInfer<RecordType>>,
  snapshot: Required<NoInfer<Snapshot>>,
  cause?: EventCause,
): Promise<void> {
  await insertEvent(transaction, newEvent(account, type, recordId, snapshot, cause));
}

/** As `appendEvent`, for a write that only inserts rows. */
export function appendedEvent<Snapshot extends object, RecordType extends string>(
  id: string,
  account: EventAccount,
  { type }: EventDefinition<Snapshot, RecordType>,
  recordId: RecordId<NoInfer<RecordType>>,
  snapshot: Required<NoInfer<Snapshot>>,
  cause?: EventCause,
): InsertedRow {
  return eventRow(id, newEvent(account, type, recordId, snapshot, cause));
}

function newEvent(
  { id: accountId, interfaceName }: EventAccount,
  type: string,
  recordId: string,
  snapshot: object,
  cause: EventCause | undefined,
) {
  return { accountId, interfaceName, type, recordId, snapshot, ...originOfCause(cause) };
}
