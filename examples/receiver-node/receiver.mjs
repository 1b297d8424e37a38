// A webhook receiver in plain Node.js, 20 or later. WEBHOOK_SECRET is the secret of the subscription.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret, PORT: port = '4005' } = process.env;
if (!secret) throw new Error('WEBHOOK_SECRET is not set.');

function isAuthentic(headers, body) {
  const timestamp = headers['x-service-webhook-timestamp'] ?? '';
  if (!/^\d{10}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const expected = Buffer.from(createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex'));
  // The second header is present while the secret is being rotated.
  return ['x-service-webhook-signature', 'x-service-webhook-signature-next'].some((name) => {
    const received = Buffer.from(headers[name] ?? '');
    return received.length === expected.length && timingSafeEqual(received, expected);
  });
}

async function receive(request, response) {
  const body = Buffer.concat(await request.toArray()); // raw bytes: verify, then parse
  if (!isAuthentic(request.headers, body)) {
    console.log('Rejected a request: its signature does not verify.');
    return response.writeHead(401).end();
  }
  const event = JSON.parse(body.toString());
  if (Object.keys(event).join() === 'verification_token') {
    console.log('Answered the handshake.');
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(event));
  }
  console.log(`Verified an event: ${JSON.stringify(event, null, 2)}`);
  return response.writeHead(204).end();
}

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});
server.listen(Number(port), '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${port}/`));
