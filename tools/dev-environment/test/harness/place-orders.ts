import type { Client } from '@deedwire/testing';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

const document: TypedDocumentNode<{ placeOrder: { order: { id: string } | null } }, { input: { item: string } }> =
  parse('mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } } }');

/** Places orders by requests of a customer, one after the other, and returns their ids. */
export async function placeOrders(client: Client, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { placeOrder } = await client.request(document, { input: { item: `Item ${index}` } });
    ids.push(placeOrder.order?.id ?? '');
  }
  return ids;
}
