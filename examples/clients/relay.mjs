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

export const environment = new relay.Environment({
  network: relay.Network.create(send),
  store: new relay.Store(new relay.RecordSource()),
});
