import {
  type AccountId,
  type EventDefinition,
  type GidContext,
  type InterfaceName,
  recordOfSnapshot,
} from '@deedwire/core';
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
export async function appendEvent<Snapshot extends object>(
  context: GidContext,
  transaction: Transaction,
  account: EventAccount,
  event: EventDefinition<Snapshot>,
  snapshot: Required<NoInfer<Snapshot>>,
  cause?: EventCause,
): Promise<void> {
  await insertEvent(transaction, newEvent(context, account, event, snapshot, cause));
}

/** As `appendEvent`, for a write that only inserts rows. */
export function appendedEvent<Snapshot extends object>(
  context: GidContext,
  id: string,
  account: EventAccount,
  event: EventDefinition<Snapshot>,
  snapshot: Required<NoInfer<Snapshot>>,
  cause?: EventCause,
): InsertedRow {
  return eventRow(id, newEvent(context, account, event, snapshot, cause));
}

function newEvent(
  context: GidContext,
  { id: accountId, interfaceName }: EventAccount,
  event: Pick<EventDefinition, 'record' | 'type'>,
  snapshot: object,
  cause: EventCause | undefined,
) {
  const recordId = recordOfSnapshot(context, event, snapshot)?.id ?? null;
  return { accountId, interfaceName, type: event.type, recordId, snapshot, ...originOfCause(cause) };
}
