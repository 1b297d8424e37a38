import relay from 'relay-runtime';
import { headers, url } from './connection.mjs';

async function send({ text }, variables) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  });
  return response.json();
}

// Several subscriptions can receive an event with the same id. The compiler selects `id` wherever a type has it.
const typesWithSharedIds = ['WebhookEvent', 'WebhookDeliveryEvent'];

export const environment = new relay.Environment({
  network: relay.Network.create(send),
  store: new relay.Store(new relay.RecordSource()),
  getDataID: ({ id }, type) => (typesWithSharedIds.includes(type) ? null : id),
});
