import { idempotencyErrorCodes } from '@deedwire/actions';
import {
  acceptAnyId,
  addAccount,
  addConnections,
  addMutation,
  addWebhooks,
  createSchemaBuilder,
} from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { interfaces } from '../../interfaces.ts';
import { type Order, placeOrder } from '../../place-order.ts';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  addAccount(builder, interfaces.customer);
  const OrderType = builder.objectRef<Order>('Order').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      item: t.exposeString('item'),
      buyerEmail: t.exposeString('buyerEmail', { nullable: true }),
      note: t.exposeString('note', { nullable: true }),
      placedAt: t.expose('placedAt', { type: 'DateTime' }),
    }),
  });
  addMutation(builder, 'placeOrder', {
    input: (t) => ({
      item: t.string({ required: true }),
      buyerEmail: t.string(),
      note: t.string(),
      idempotencyKey: t.string(),
    }),
    codes: [...idempotencyErrorCodes, 'ITEM_INVALID'],
    resolve: (input, { actions, caller }) => placeOrder(actions, caller, input),
    payload: (t) => ({ order: t.expose('order', { type: OrderType, nullable: true }) }),
  });
  addWebhooks(builder, addConnections(builder), { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
  return builder.toSchema();
}
