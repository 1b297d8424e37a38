import { eventually } from '@deedwire/testing';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { describe, expect, it } from 'vitest';
import { secret, sender } from './sender.ts';
import { httpReceiver, rawReceiver } from './test-receivers.ts';

describe('the handshake', () => {
  it('sends a token with both signatures and succeeds when the receiver returns it', async () => {
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
    expect(verifyWebhook({ prefix: 'X-Service', headers, body, secret }).id).toMatch(/^handshake_[0-9a-f]{32}$/);
  });

  it('succeeds for a receiver without the secret and for one that verifies the signature first', async () => {
    const trusting = await httpReceiver((response, { body }) => {
      const value = JSON.parse(String(body));
      response.end(Object.keys(value).join() === 'verification_token' ? JSON.stringify(value) : '{}');
    });
    const strict = await httpReceiver((response, { headers, body }) => {
      verifyWebhook({ prefix: 'X-Service', headers, body, secret });
      response.writeHead(201, { 'content-type': 'application/json' }).end(body);
    });
    for (const { url } of [trusting, strict]) {
      expect(await sender().verify({ url, secret })).toStrictEqual({ verified: true });
    }
  });

  it('succeeds for a receiver that sends 100 Continue first', async () => {
    const receiver = await httpReceiver((response, { body }) => {
      response.writeContinue();
      response.end(body);
    });
    expect(await sender().verify({ url: receiver.url, secret })).toStrictEqual({ verified: true });
  });

  it('signs with both secrets during a rotation, and redacts both', async () => {
    const nextSecret = generateWebhookSecret();
    const receiver = await httpReceiver((response) => response.writeHead(400).end(`${secret} ${nextSecret}`));
    const result = JSON.stringify(await sender().verify({ url: receiver.url, secret, nextSecret }));
    expect(result).toContain('[the secret] [the new secret]');
    const [request] = receiver.requests;
    const { headers = {}, body = Buffer.alloc(0) } = request ?? {};
    for (const each of [secret, nextSecret])
      expect(verifyWebhook({ prefix: 'X-Service', headers, body, secret: each })).toBeDefined();
  });

  it('sends the secret header, and redacts what the receiver echoes of it', async () => {
    const token = 'dG9rZW4gb2YgYSBnYXRld2F5';
    const secretHeader = { name: 'Authorization', value: `Bearer ${token}` };
    const answers: [status: number, headers: Record<string, string>, body: string][] = [
      [401, {}, `${secretHeader.value} is wrong`],
      [200, { 'content-type': `a/${token}` }, JSON.stringify({ token })],
      [301, { location: `https://a.example/?token=${token}` }, ''],
      [200, { 'content-encoding': token }, ''],
    ];
    for (const [status, headers, body] of answers) {
      const receiver = await httpReceiver((response) => response.writeHead(status, headers).end(body));
      const result = JSON.stringify(await sender().verify({ url: receiver.url, secret, secretHeader }));
      expect(receiver.requests[0]?.headers.authorization).toBe(secretHeader.value);
      expect(result).toContain('[the request header]');
      expect(result).not.toContain(token);
    }
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    expect(await sender().verify({ url: receiver.url, secret, secretHeader })).toStrictEqual({ verified: true });
  });

  it('sends a new token and a new id each time', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    const { verify } = sender();
    for (let round = 0; round < 3; round += 1) await verify({ url: receiver.url, secret });
    expect(new Set(receiver.requests.map(({ body }) => String(body))).size).toBe(3);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('fails for the token of another handshake', async () => {
    let first = '';
    const receiver = await httpReceiver((response, { body }) => {
      first ||= String(body);
      response.end(first);
    });
    const { verify } = sender();
    await verify({ url: receiver.url, secret });
    expect(await verify({ url: receiver.url, secret })).toMatchObject({ code: 'VERIFICATION_MISMATCH' });
  });

  it('does not follow a redirect to a URL that returns the token', async () => {
    const receiver = await httpReceiver((response, { path, body }) =>
      path === '/echo' ? response.end(body) : response.writeHead(307, { location: '/echo' }).end(),
    );
    expect(await sender().verify({ url: receiver.url, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_REDIRECT',
      message:
        'The callback URL returned a redirect with status 307 and Location /echo. Redirects are not followed. Register the final URL.',
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it.each([
    ['no response', '', 'did not send the response headers.'],
    [
      'a body that does not end',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{',
      'returned status 200, but the response body did not end.',
    ],
  ])('times out at the deadline for %s', async (_case, text, why) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    // On a machine that stalls, the headers can arrive after the deadline.
    await eventually(async () =>
      expect(await sender({ timeoutMs: 2000 }).verify({ url: receiver.url, secret })).toStrictEqual({
        verified: false,
        code: 'VERIFICATION_TIMEOUT',
        message: `The callback URL did not send a complete response within 2 s. 127.0.0.1:${receiver.port} ${why}`,
      }),
    );
  });

  it('rejects a body that is longer than the kept part', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(String(body).padEnd(100_000)));
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_MISMATCH',
      message: expect.stringContaining('longer than 16 kB'),
    });
  });

  it.each([
    [
      'an SSH server',
      'SSH-2.0-OpenSSH_9.9\r\n',
      /^The response of 127\.0\.0\.1:\d+ is not valid HTTP\/1\.1\. Check that the port belongs to an HTTP server\.$/,
    ],
    [
      'a control character in a header',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-waf: a\0b\r\n\r\nok',
      /^The response of 127\.0\.0\.1:\d+ is not valid HTTP\/1\.1: the value of a header has a control character\./,
    ],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      /^127\.0\.0\.1:\d+ sent status 101 \(Switching Protocols\), which the request did not ask for\. /,
    ],
    [
      'large headers',
      `HTTP/1.1 200 OK\r\na: ${'b'.repeat(17_000)}\r\n\r\n`,
      /response headers of .* larger than 16 kB/,
    ],
  ])('reports %s as unreachable', async (_case, text, message) => {
    const receiver = await rawReceiver((socket) => socket.write(text));
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: expect.stringMatching(message),
    });
  });

  it('reports a closed and a refused connection', async () => {
    const receiver = await rawReceiver((socket) => socket.destroy());
    expect(await sender().verify({ url: receiver.url, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: `127.0.0.1:${receiver.port} closed the connection before the response was complete.`,
    });
    expect(await sender().verify({ url: 'http://127.0.0.1:1/', secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message:
        'Could not connect to 127.0.0.1:1: the connection was refused. Check that the server is running and that no firewall blocks the port.',
    });
  });

  it('checks the URL before it sends a request', async () => {
    const { verify } = sender({ policy: 'public' });
    expect(await verify({ url: 'example.com', secret })).toMatchObject({ code: 'CALLBACK_URL_INVALID' });
    expect(await verify({ url: 'http://example.com/', secret })).toMatchObject({ code: 'CALLBACK_URL_FORBIDDEN' });
    expect(await verify({ url: 'https://127.0.0.1/', secret })).toMatchObject({ code: 'CALLBACK_URL_FORBIDDEN' });
  });
});
