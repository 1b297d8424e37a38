import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type ConnectProxy, type ConnectProxyOptions, eventually, startConnectProxy } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EgressUnavailableError, type WebhookSenderOptions } from '../src/index.ts';
import { delivery, localSender, secret } from './sender.ts';
import { httpReceiver, listening, ok, pem, rawReceiver, tlsReceiver } from './test-receivers.ts';

const tls = { key: pem('receiver-key'), cert: pem('receiver') };
const allDetails = { keeps: () => true, takeBytes: () => true, returnBytes() {} };

const before = getCACertificates();
beforeAll(() => setDefaultCACertificates([...before, tls.cert]));
afterAll(() => setDefaultCACertificates(before));

const connectProxy = (options: ConnectProxyOptions = {}): Promise<ConnectProxy> => forTest(startConnectProxy(options));

function proxiedSender(proxyUrl: string, options: Partial<WebhookSenderOptions> = {}) {
  return localSender({ proxyUrl: new URL(proxyUrl), ...options });
}

const threeAddresses = async () => ['2606:4700::1111', '8.8.8.8', '1.1.1.1'];

describe('through a proxy', () => {
  it('asks for the vetted address, and speaks TLS with the name of the receiver', async () => {
    const names: unknown[] = [];
    const { port } = await tlsReceiver({}, (socket) => names.push(socket.servername));
    const proxy = await connectProxy();
    const { deliver } = proxiedSender(proxy.url);
    const result = await deliver({ ...delivery(`https://receiver.test:${port}/`), details: allDetails });
    expect(result).toMatchObject({
      responseStatus: 200,
      error: null,
      exchange: { remoteAddress: '127.0.0.1', connectMs: expect.any(Number), tlsMs: expect.any(Number) },
    });
    expect(names).toEqual(['receiver.test']);
    expect(proxy.authorities).toEqual([`127.0.0.1:${port}`]);
    // Not the certificate of another name, whatever the proxy connects to.
    expect(await deliver(delivery(`https://other.test:${port}/`))).toMatchObject({ error: 'TLS_FAILED' });
  });

  it('verifies the certificate of an address, without SNI', async () => {
    const names: unknown[] = [];
    const { port } = await tlsReceiver({}, (socket) => names.push(socket.servername));
    const proxy = await connectProxy();
    expect(await proxiedSender(proxy.url).deliver(delivery(`https://127.0.0.1:${port}/`))).toMatchObject({
      responseStatus: 200,
    });
    expect(names).toEqual([false]);
  });

  it('sends handshakes, and reuses the tunnel for deliveries', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    const proxy = await connectProxy();
    const { deliver, verify } = proxiedSender(proxy.url);
    const url = `http://receiver.test:${receiver.port}/`;
    expect(await verify({ url, secret })).toEqual({ verified: true });
    for (let round = 0; round < 3; round += 1) {
      expect(await deliver(delivery(url))).toMatchObject({ responseStatus: 200 });
    }
    expect(proxy.authorities).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it('vets addresses before it asks: the proxy never sees one that is not allowed', async () => {
    const proxy = await connectProxy();
    const found = { '10.0.0.1': 'private', '169.254.169.254': 'metadata', '9.9.9.9': 'denied' };
    for (const address of Object.keys(found)) {
      const { deliver, verify } = proxiedSender(proxy.url, {
        policy: 'public',
        resolve: async () => [address],
        deniedRanges: { includes: (each) => each === '9.9.9.9' },
      });
      expect(await deliver(delivery('https://internal.example/'))).toMatchObject({ error: 'DNS_FAILED' });
      expect(await verify({ url: `https://${address}/`, secret })).toMatchObject({ code: 'CALLBACK_URL_FORBIDDEN' });
    }
    expect(proxy.connections).toHaveLength(0);
  });

  it('asks for the address that was vetted when a name resolves to another one meanwhile', async () => {
    const answers = [['1.1.1.1'], ['127.0.0.1']];
    const proxy = await connectProxy({ status: () => 502 });
    const { deliver } = proxiedSender(proxy.url, { policy: 'public', resolve: async () => answers.shift() ?? [] });
    expect(await deliver(delivery('https://rebinding.example/'))).toMatchObject({ error: 'CONNECTION_FAILED' });
    expect(await deliver(delivery('https://rebinding.example/'))).toMatchObject({ error: 'DNS_FAILED' });
    expect(proxy.authorities).toEqual(['1.1.1.1:443']);
  });

  it('tries the next address of a name, even after one of IPv6', async () => {
    const receiver = await rawReceiver((socket) => socket.write(ok));
    const proxy = await connectProxy({
      status: (authority) => (authority.startsWith('[2606:') ? 502 : authority.startsWith('8.8.') ? null : 200),
      target: () => ({ host: '127.0.0.1', port: receiver.port }),
    });
    const result = await proxiedSender(proxy.url, { resolve: threeAddresses }).deliver({
      ...delivery(`http://receiver.test:${receiver.port}/`),
      details: allDetails,
    });
    expect(result).toMatchObject({ responseStatus: 200, exchange: { remoteAddress: '1.1.1.1' } });
    const { port } = receiver;
    expect(proxy.authorities).toEqual([`[2606:4700::1111]:${port}`, `8.8.8.8:${port}`, `1.1.1.1:${port}`]);
  });

  it('authenticates, over TLS that is verified', async () => {
    const receiver = await rawReceiver((socket) => socket.write(ok));
    const proxy = await connectProxy({
      tls,
      status: (_authority, { headers }) =>
        headers['proxy-authorization'] === `Basic ${btoa('egress:p@ss:word')}` ? 200 : 407,
    });
    const url = `http://receiver.test:${receiver.port}/`;
    const proxyOf = (credentials: string) => `https://${credentials}@127.0.0.1:${proxy.port}`;
    expect(await proxiedSender(proxyOf('egress:p%40ss%3Aword')).deliver(delivery(url))).toMatchObject({
      responseStatus: 200,
    });
    const refused = await proxiedSender(proxyOf('egress:wrong-secret')).deliver(delivery(url));
    expect(refused).toMatchObject({
      responseStatus: null,
      proxyProblem: { mayBeReceiver: false, found: `proxy 127.0.0.1:${proxy.port}: status 407` },
    });
    expect(JSON.stringify(refused)).not.toContain('wrong-secret');
    const untrusted = await connectProxy({ tls: { key: tls.key, cert: pem('expired') } });
    expect(await proxiedSender(untrusted.url).deliver(delivery(url))).toMatchObject({
      proxyProblem: { mayBeReceiver: false, found: `proxy 127.0.0.1:${untrusted.port}: CERT_HAS_EXPIRED` },
    });
    expect(untrusted.authorities).toEqual([]);
  });

  it('reads the response of a receiver that speaks first', async () => {
    const receiver = await listening(
      createTlsServer(tls).on('connection', (socket) => socket.write('SSH-2.0-OpenSSH\r\n')),
    );
    const proxy = await connectProxy();
    expect(await proxiedSender(proxy.url).deliver(delivery(`https://receiver.test:${receiver.port}/`))).toMatchObject({
      error: 'TLS_FAILED',
    });
  });

  it('reads a response without an end up to the limit only', async () => {
    const server = createTlsServer(tls, (socket) => {
      socket.on('error', () => {}).write('HTTP/1.1 200 ');
      const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('a'.repeat(65_536))), 1);
    });
    const receiver = await listening(server);
    const proxy = await connectProxy();
    const result = await proxiedSender(proxy.url).deliver(delivery(`https://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ error: 'PROTOCOL_ERROR' });
  });
});

describe('a failure of the proxy', () => {
  const url = 'http://receiver.test:4000/';

  it.each([400, 403, 407, 500])('is ours when it refuses with %i', async (status) => {
    const proxy = await connectProxy({ status: () => status });
    const { deliver, verify } = proxiedSender(proxy.url);
    const found = `proxy 127.0.0.1:${proxy.port}: status ${status}`;
    expect(await deliver(delivery(url))).toMatchObject({ proxyProblem: { mayBeReceiver: false, found } });
    await expect(verify({ url, secret })).rejects.toThrow(EgressUnavailableError);
    await expect(verify({ url, secret })).rejects.toMatchObject({ message: found, code: 'EGRESS_UNAVAILABLE' });
  });

  it.each([502, 503, 504])('may be one of the receiver when it answers %i', async (status) => {
    const proxy = await connectProxy({ status: () => status });
    const { deliver, verify } = proxiedSender(proxy.url);
    const found = `proxy 127.0.0.1:${proxy.port}: status ${status}`;
    expect(await deliver(delivery(url))).toMatchObject({
      error: 'CONNECTION_FAILED',
      proxyProblem: { mayBeReceiver: true, found },
    });
    expect(await verify({ url, secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_UNREACHABLE',
      message: 'Could not connect to receiver.test:4000: the connection failed.',
    });
  });

  it('is ours when it is down', async () => {
    const proxy = await connectProxy();
    await proxy.close();
    const { deliver, verify } = proxiedSender(proxy.url);
    const found = `proxy 127.0.0.1:${proxy.port}: ECONNREFUSED`;
    expect(await deliver(delivery(url))).toMatchObject({ proxyProblem: { mayBeReceiver: false, found } });
    await expect(verify({ url, secret })).rejects.toMatchObject({ message: found });
  });

  it('is ours when it accepts the connection but no TLS', async () => {
    const receiver = await rawReceiver(() => {});
    const { deliver } = proxiedSender(`https://127.0.0.1:${receiver.port}`, { timeoutMs: 200 });
    expect(await deliver(delivery(url))).toMatchObject({
      proxyProblem: { mayBeReceiver: false, found: `proxy 127.0.0.1:${receiver.port}: no answer` },
    });
    await expect.poll(() => receiver.connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('may be one of the receiver when it does not answer, or closes the connection', async () => {
    const silent = await connectProxy({ status: () => null });
    // On a machine that stalls, the proxy can be reached after the deadline.
    await eventually(async () =>
      expect(await proxiedSender(silent.url, { timeoutMs: 200 }).deliver(delivery(url))).toMatchObject({
        error: 'TIMEOUT',
        proxyProblem: { mayBeReceiver: true, found: `proxy 127.0.0.1:${silent.port}: no answer` },
      }),
    );
    await expect.poll(() => silent.connections.every(({ destroyed }) => destroyed)).toBe(true);
    const closing = await rawReceiver((socket) => socket.destroy());
    expect(await proxiedSender(`http://127.0.0.1:${closing.port}`).deliver(delivery(url))).toMatchObject({
      error: 'CONNECTION_FAILED',
      proxyProblem: { mayBeReceiver: true },
    });
  });

  it('is no failure of the proxy when the tunnel is open', async () => {
    const receiver = await rawReceiver((socket) => socket.destroy());
    const proxy = await connectProxy();
    const result = await proxiedSender(proxy.url).deliver(delivery(`http://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ error: 'CONNECTION_FAILED' });
    expect(result).not.toHaveProperty('proxyProblem');
  });
});
