import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { describe, expect, it } from 'vitest';
import { httpReceiver, rawReceiver } from './receiver.ts';
import { sender } from './sender.ts';

const secret = generateWebhookSecret();

describe('the handshake', () => {
  it('sends a token with both signatures, and is content when it comes back', async () => {
    const receiver = await httpReceiver((response, { body }) => response.writeHead(200).end(body));
    expect(await sender().verify({ url: receiver.url, secret })).toStrictEqual({ verified: true });

    const [request] = receiver.requests;
    const { headers = {}, body = Buffer.alloc(0) } = request ?? {};
    expect(request).toMatchObject({ method: 'POST', path: '/hooks?tenant=1' });
    expect(String(body)).toMatch(/^\{"verification_token":"[\w-]{43}"\}$/);
    expect(Object.keys(headers).toSorted()).toEqual([
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-service-webhook-signature',
      'x-service-webhook-timestamp',
    ]);
    expect(verifyWebhook({ headers, body, secret }).id).toMatch(/^handshake_[0-9a-f]{32}$/);
  });

  it('works for a receiver that does not know the secret, and for one that wants to verify first', async () => {
    const trusting = await httpReceiver((response, { body }) => {
      const value = JSON.parse(String(body));
      response.end(Object.keys(value).join() === 'verification_token' ? JSON.stringify(value) : '{}');
    });
    const strict = await httpReceiver((response, { headers, body }) => {
      verifyWebhook({ headers, body, secret });
      response.writeHead(201, { 'content-type': 'application/json' }).end(body);
    });
    for (const { url } of [trusting, strict]) {
      expect(await sender().verify({ url, secret })).toStrictEqual({ verified: true });
    }
  });

  it('never sends a token or an id twice', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    const { verify } = sender();
    for (let round = 0; round < 3; round += 1) await verify({ url: receiver.url, secret });
    expect(new Set(receiver.requests.map(({ body }) => String(body))).size).toBe(3);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('is not content with the token of another handshake', async () => {
    let first = '';
    const receiver = await httpReceiver((response, { body }) => {
      first ||= String(body);
      response.end(first);
    });
    const { verify } = sender();
    await verify({ url: receiver.url, secret });
    expect(await verify({ url: receiver.url, secret })).toMatchObject({ code: 'VERIFICATION_MISMATCH' });
  });

  it('does not follow a redirect to somebody who would echo', async () => {
    const receiver = await httpReceiver((response, { path, body }) =>
      path === '/echo' ? response.end(body) : response.writeHead(307, { location: '/echo' }).end(),
    );
    expect(await sender().verify({ url: receiver.url, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_REDIRECT',
      message:
        'The callback URL answered with a redirect, status 307 and Location /echo. Redirects are not followed; register the final URL.',
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('says which status came', async () => {
    const receiver = await httpReceiver((response) =>
      response.writeHead(500, { 'content-type': 'text/plain' }).end('Oops'),
    );
    expect(await sender().verify({ url: receiver.url, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_STATUS',
      message:
        'The callback URL answered with status 500, not 2xx; Content-Type text/plain, the body starts with "Oops".',
    });
  });

  it('does not show its secrets when all that was sent comes back', async () => {
    const receiver = await httpReceiver((response, { headers, body }) =>
      response.writeHead(400).end(`${String(body)} ${secret} ${JSON.stringify(headers)}`),
    );
    const outcome = JSON.stringify(await sender().verify({ url: receiver.url, secret }));
    expect(outcome).toContain('[the token]');
    expect(outcome).toContain('[the secret]');
    expect(outcome).not.toContain(secret);
  });

  it.each([
    ['nothing', '', 'was sent the request, but did not send the headers of an answer.'],
    [
      'a body that does not end',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{',
      'answered with status 200, but the body did not end.',
    ],
  ])('waits no longer than its deadline for %s', async (_what, text, why) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    expect(await sender({ timeoutMs: 100 }).verify({ url: receiver.url, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_TIMEOUT',
      message: `No complete answer within 0.1 s. 127.0.0.1:${receiver.port} ${why}`,
    });
  });

  it('refuses a body beyond what is read', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(String(body).padEnd(100_000)));
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_MISMATCH',
      message: expect.stringContaining('longer than 16 kB'),
    });
  });

  it.each([
    ['an SSH server', 'SSH-2.0-OpenSSH_9.9\r\n', /^What 127\.0\.0\.1:\d+ answered is not valid HTTP\/1\.1\.$/],
    [
      'large headers',
      `HTTP/1.1 200 OK\r\na: ${'b'.repeat(17_000)}\r\n\r\n`,
      /headers of the answer of .* larger than 16 kB/,
    ],
  ])('says that it cannot talk to %s', async (_what, text, message) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: expect.stringMatching(message),
    });
  });

  it('says that the connection was refused, or closed', async () => {
    const receiver = await rawReceiver((socket) => socket.destroy());
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: `127.0.0.1:${receiver.port} closed the connection before its answer was complete.`,
    });
    expect(await sender().verify({ url: 'http://127.0.0.1:1/', secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: 'No connection to 127.0.0.1:1: it was refused; nothing listens there, or a firewall forbids it.',
    });
  });

  it('checks the URL first', async () => {
    const { verify } = sender({ policy: 'public' });
    expect(await verify({ url: 'example.com', secret })).toMatchObject({ code: 'CALLBACK_URL_INVALID' });
    expect(await verify({ url: 'http://example.com/', secret })).toMatchObject({ code: 'CALLBACK_URL_FORBIDDEN' });
    expect(await verify({ url: 'https://127.0.0.1/', secret })).toMatchObject({ code: 'CALLBACK_URL_FORBIDDEN' });
  });
});
