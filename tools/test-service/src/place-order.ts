import type { ActionContext, Caller } from '@deedwire/actions';
import {
  appendedEvent,
  auditedChange,
  type IdempotencyErrorCode,
  inputError,
  type MutationResult,
  resultOf,
  timeCodec,
  writeWithIdempotencyKey,
} from '@deedwire/actions/use-case';
import { formatGid, isText, toRecordId } from '@deedwire/core';
import { orderPlaced } from '@deedwire/core/test-service';
import { type SharedWrite, sql } from '@deedwire/store';
import { workerOf } from '@deedwire/webhooks/outbox';
import { z } from 'zod';

/** How a saved result keeps an order. */
const orderCodec = z.object({
  id: z.string(),
  item: z.string(),
  buyerEmail: z.string().nullable(),
  note: z.string().nullable(),
  placedAt: timeCodec,
});

export type Order = z.output<typeof orderCodec>;

export type PlaceOrderErrorCode = IdempotencyErrorCode | 'ITEM_INVALID';

export interface PlaceOrderInput {
  item: string;
  buyerEmail?: string | null | undefined;
  note?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export type PlaceOrderResult = MutationResult<{ order: Order }, PlaceOrderErrorCode>;

const insertOrders = sql('insert-orders')`
  insert into customer_order (id, account_id, item, buyer_email, note)
  select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])`;

/** Places an order of the caller, a customer. Appends `order.placed`. */
export async function placeOrder(
  context: ActionContext,
  caller: Caller,
  { item, buyerEmail = null, note = null, idempotencyKey }: PlaceOrderInput,
): Promise<PlaceOrderResult> {
  const details = { item, buyerEmail, note };
  const inputErrors = isText(item, 200)
    ? []
    : [inputError('ITEM_INVALID' as const, 'item', 'The item must have 1 to 200 characters and not be blank.')];
  const request = { mutation: 'placeOrder', key: idempotencyKey, input: details, codec: orderCodec };
  const write = inputErrors.length > 0 ? null : newOrder(context, caller, details);
  const written = await writeWithIdempotencyKey<Order>(context, caller, request, write);
  return resultOf<Order, PlaceOrderErrorCode, PlaceOrderResult>(
    written.kind === 'done' ? { kind: 'done', result: { order: written.result, userErrors: inputErrors } } : written,
    {
      repeat: (saved) => ({ order: saved.payload, userErrors: [] }),
      reject: (userErrors) => ({ order: null, userErrors }),
      findInputErrors: () => inputErrors,
    },
  );
}

/** What a new order writes: its row, the event and an entry of the audit log. */
function newOrder(
  context: ActionContext,
  caller: Caller,
  details: Pick<Order, 'buyerEmail' | 'item' | 'note'>,
): Pick<SharedWrite<Order>, 'ids' | 'rows'> {
  const { accountId } = caller;
  const account = { id: accountId, interfaceName: 'customer' };
  return {
    ids: 2,
    rows({ now, ids: [drawnId = '', eventId = ''] }) {
      const orderId = toRecordId<'Order'>(drawnId);
      const id = formatGid(context.gidNamespace, 'Order', orderId);
      const { item, buyerEmail, note } = details;
      const order = { id, item, buyerEmail, note, placedAt: now };
      const snapshot = { order: { id, item, buyerEmail, note }, placedAt: now.toISOString() };
      return {
        rows: [
          { into: insertOrders, values: [orderId, accountId, item, buyerEmail, note] },
          appendedEvent(context, eventId, account, orderPlaced, snapshot, caller),
          auditedChange(caller, { action: 'order.place', subject: id, account }),
        ],
        answer: order,
        saved: () => ({ payload: orderCodec.encode(order), secretCiphertext: null, recordId: null }),
        notify: [workerOf(accountId)],
      };
    },
  };
}
