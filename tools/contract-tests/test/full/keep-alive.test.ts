import { once } from 'node:events';
import { connect } from 'node:net';
import { type InterfaceName, testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { credentialHeaders } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const t = await forFile(createHarness());
const apis = {
  customer: await t.startApi('customer', { KEEP_ALIVE_TIMEOUT_MS: 1_000 }),
  supplier: await t.startApi('supplier'),
};
await Promise.all([apis.customer.whenReady, apis.supplier.whenReady]);

async function openConnection(name: InterfaceName) {
  const url = new URL(`${testService.interfaces[name].path}/graphql`, apis[name].url);
  const headers = { ...credentialHeaders(t.accounts[name].credential), 'Content-Type': 'application/json' };
  const body = JSON.stringify({ query: '{ __typename }' });
  const lines = Object.entries({ ...headers, Host: url.host, 'Content-Length': body.length }).map((line) =>
    line.join(': '),
  );
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  return {
    socket,
    async send(): Promise<string> {
      socket.write(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
      const [chunk] = await once(socket, 'data');
      return String(chunk);
    },
  };
}

test('an interface closes idle connections after KEEP_ALIVE_TIMEOUT_MS, and another one after the default', async () => {
  const [short, standard] = [await openConnection('customer'), await openConnection('supplier')];
  const closed = once(short.socket, 'close');
  expect(await short.send()).toContain('Keep-Alive: timeout=1\r\n');
  expect(await standard.send()).toContain('Keep-Alive: timeout=65\r\n');
  await closed;
  expect(await standard.send()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  standard.socket.destroy();
});
