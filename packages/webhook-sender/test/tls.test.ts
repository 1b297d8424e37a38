import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { eventually } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWebhookSender, TlsVerificationOffError } from '../src/index.ts';
import { delivery, localSender, secret, sender } from './sender.ts';
import { listening, pem, rawReceiver, tlsReceiver } from './test-receivers.ts';

const expired = pem('expired');

describe('with a trusted certificate', () => {
  const before = getCACertificates();
  beforeAll(() => setDefaultCACertificates([...before, pem('receiver'), expired]));
  afterAll(() => setDefaultCACertificates(before));

  it('connects with SNI and HTTP/1.1', async () => {
    const seen: unknown[] = [];
    const { port } = await tlsReceiver({ ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      seen.push([socket.servername, socket.alpnProtocol, socket.getProtocol()]);
    });
    const details = { keeps: () => true, takeBytes: () => true, returnBytes() {} };
    expect(await localSender().deliver({ ...delivery(`https://receiver.test:${port}/`), details })).toMatchObject({
      responseStatus: 200,
      error: null,
      exchange: { dnsMs: expect.any(Number), connectMs: expect.any(Number), tlsMs: expect.any(Number) },
    });
    expect(seen).toEqual([['receiver.test', 'http/1.1', 'TLSv1.3']]);
  });

  it('checks an IP address against the certificate, without SNI', async () => {
    const names: unknown[] = [];
    const { port } = await tlsReceiver({}, (socket) => names.push(socket.servername));
    expect(await sender().deliver(delivery(`https://127.0.0.1:${port}/`))).toMatchObject({
      responseStatus: 200,
      error: null,
    });
    expect(names).toEqual([false]);
  });

  it('accepts TLS 1.2', async () => {
    const { port } = await tlsReceiver({ maxVersion: 'TLSv1.2' });
    expect(await localSender().deliver(delivery(`https://receiver.test:${port}/`))).toMatchObject({
      responseStatus: 200,
    });
  });

  it.each([
    ['TLSv1.2', 'ERR_SSL_\\S+_ALERT_HANDSHAKE_FAILURE'],
    ['TLSv1.3', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
  ] as const)('says that a server with %s demands a client certificate', async (version, code) => {
    const options = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true };
    const { port } = await tlsReceiver(options);
    const url = `https://receiver.test:${port}/`;
    expect(await localSender().deliver(delivery(url))).toMatchObject({
      error: 'TLS_FAILED',
      cause: 'TLS_REFUSED',
      responseStatus: null,
    });
    expect(await localSender().verify({ url, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: expect.stringMatching(
        new RegExp(
          String.raw`the server refused the TLS handshake\. Check that it supports TLS 1\.2 or later for this host name, without a client certificate\. The error is ${code}\.$`,
        ),
      ),
    });
  });

  it('rejects TLS 1.1', async () => {
    const { port } = await tlsReceiver({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' });
    expect(await localSender().verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: expect.stringMatching(
        /^Could not establish a TLS connection to receiver\.test:\d+: the server refused the TLS handshake\. Check that it supports TLS 1\.2 or later for this host name, without a client certificate\. The error is ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION\.$/,
      ),
    });
  });

  it('rejects it for another host name', async () => {
    const { port } = await tlsReceiver({});
    expect(await localSender().deliver(delivery(`https://other.test:${port}/`))).toMatchObject({
      error: 'TLS_FAILED',
      cause: 'CERTIFICATE_OF_OTHER_HOST',
      responseStatus: null,
    });
    expect(await localSender().verify({ url: `https://other.test:${port}/`, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_UNREACHABLE',
      message: `Could not establish a TLS connection to other.test:${port}: the certificate is for another host name. Use a certificate for this host name.`,
    });
  });

  it('rejects it when it is not for servers', async () => {
    setDefaultCACertificates([...before, pem('private-ca')]);
    const { port } = await tlsReceiver({ cert: pem('client-only') });
    expect(await localSender().deliver(delivery(`https://receiver.test:${port}/`))).toMatchObject({
      error: 'TLS_FAILED',
      cause: 'CERTIFICATE_UNSUITABLE',
    });
  });

  it('rejects it when it has expired', async () => {
    const { port } = await tlsReceiver({ cert: expired });
    expect(await localSender().verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
      message: `Could not establish a TLS connection to receiver.test:${port}: the certificate has expired. Renew it.`,
    });
  });
});

describe('without a trusted TLS connection', () => {
  it('rejects a self-signed certificate even if NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    let requests = 0;
    const { port } = await tlsReceiver({}, (socket) => socket.on('data', () => (requests += 1)));
    expect(
      await localSender({ nodeTlsRejectUnauthorized: '0' }).deliver(delivery(`https://receiver.test:${port}/`)),
    ).toMatchObject({ error: 'TLS_FAILED' });
    expect(await localSender().verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
      message: `Could not establish a TLS connection to receiver.test:${port}: the certificate is self-signed. Use a certificate of a public certificate authority.`,
    });
    expect(requests).toBe(0);
  });

  it('reports a server without TLS', async () => {
    const { port } = await rawReceiver((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { deliver, verify } = localSender();
    expect(await deliver(delivery(`https://receiver.test:${port}/`))).toMatchObject({
      error: 'TLS_FAILED',
      cause: 'TLS_NOT_POSSIBLE',
    });
    expect(await verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: expect.stringContaining('Could not establish a TLS connection'),
    });
  });

  it('does not call the certificate of a private authority self-signed, although its chain ends with one that is', async () => {
    const { port } = await tlsReceiver({ cert: pem('of-private-ca') + pem('private-ca') });
    expect(await localSender().deliver(delivery(`https://receiver.test:${port}/`))).toMatchObject({
      error: 'TLS_FAILED',
      cause: 'CERTIFICATE_CHAIN',
    });
  });

  it('reports a server that refuses the handshake, and names the alert', async () => {
    const server = createTlsServer({}).on('tlsClientError', () => {});
    const { port } = await listening(server);
    const { deliver, verify } = localSender();
    expect(await deliver(delivery(`https://receiver.test:${port}/`))).toMatchObject({ cause: 'TLS_REFUSED' });
    expect(await verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
      message: expect.stringMatching(
        / without a client certificate\. The error is ERR_SSL_.*ALERT_HANDSHAKE_FAILURE\.$/,
      ),
    });
  });

  it('reports a connection that ends during the TLS handshake', async () => {
    for (const close of ['end', 'resetAndDestroy'] as const) {
      const { port } = await rawReceiver((socket) => socket[close]());
      expect(await localSender().verify({ url: `https://receiver.test:${port}/`, secret })).toMatchObject({
        message: `Could not establish a TLS connection to receiver.test:${port}: the server closed the connection during the TLS handshake.`,
      });
    }
  });

  it('times out at the deadline of the TLS handshake', async () => {
    const { port, connections } = await rawReceiver(() => {});
    // On a machine that stalls, the connection can open after the deadline.
    await eventually(async () =>
      expect(
        await localSender({ timeoutMs: 2000 }).verify({ url: `https://receiver.test:${port}/`, secret }),
      ).toStrictEqual({
        verified: false,
        code: 'VERIFICATION_TIMEOUT',
        message: `The callback URL did not send a complete response within 2 s. receiver.test:${port} accepted the connection but did not complete the TLS handshake.`,
      }),
    );
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED', () => {
  it('makes the sender throw under the public policy when it is 0', () => {
    const options = {
      policy: 'public',
      headerPrefix: 'X-Service',
      userAgent: 'a',
      nodeTlsRejectUnauthorized: '0',
    } as const;
    expect(() => createWebhookSender(options)).toThrow(TlsVerificationOffError);
    expect(() => createWebhookSender(options)).toThrow(expect.objectContaining({ code: 'TLS_VERIFICATION_OFF' }));
  });

  it.each([undefined, '', '1'])('may be %j', async (nodeTlsRejectUnauthorized) => {
    const { close } = createWebhookSender({
      policy: 'public',
      headerPrefix: 'X-Service',
      userAgent: 'a',
      nodeTlsRejectUnauthorized,
    });
    await expect(close()).resolves.toBeUndefined();
  });
});
