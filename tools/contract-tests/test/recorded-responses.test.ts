import { connect } from 'node:net';
import { interfaceNames } from '@deedwire/core/test-service';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { othersThan } from './support/interface-contracts.ts';
import { recordedRequests } from './support/recorded-requests.ts';

/*
 * Sends good, bad and hostile requests over a socket, and compares every byte of the responses with the recorded ones, except for
 * ids and dates, and for points, which depend on the time. `vitest -u` records them.
 */

const t = await forFile(joinSharedSystem());

test.each(interfaceNames)('the %s interface responds as recorded', async (interfaceName) => {
  const [other] = othersThan(interfaceName);
  const url = new URL(t.urls[interfaceName]);
  const requests = recordedRequests({
    interfaceName,
    path: url.pathname,
    credential: t.accounts[interfaceName].credential,
    foreign: t.accounts[other ?? interfaceName].credential,
  });
  let recorded = '';
  for (const [name, bytes] of requests)
    recorded += `### ${name}\n\n${withoutChanges(await exchange(Number(url.port), bytes))}\n\n`;
  await expect(recorded).toMatchFileSnapshot(`recorded-responses/${interfaceName}.txt`);
});

/** Sends bytes on a new connection, and returns what comes until the server closes it, or waits for the rest of a request. */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (isLast(received)) break;
  }
  return received;
}

/** Whether the last response is complete, and says that the connection is closed after it. */
function isLast(received: string): boolean {
  const [head = '', body = ''] = received.slice(received.lastIndexOf('HTTP/1.1 ')).split('\r\n\r\n');
  const [, length = ''] = /^Content-Length: (\d+)$/m.exec(head) ?? [];
  return head.includes('\r\nConnection: close') && Buffer.byteLength(body) === Number(length);
}

function withoutChanges(received: string): string {
  return (
    received
      .replaceAll('\r\n', '\n')
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<request id>')
      // It contains the points. `isLast` compares it with the body.
      .replaceAll(/^Content-Length: .*$/gm, 'Content-Length: <bytes>')
      .replaceAll(/^Date: .*$/gm, 'Date: <date>')
      .replaceAll(/(;r=)\d+(;t=\d+)?/g, '$1<points>')
      .replaceAll(/("currentlyAvailable":)\d+/g, '$1"<points>"')
  );
}
