import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpLimits } from '@deedwire/service-runtime';
import { expect, test } from 'vitest';

const number = (value: number) => value.toLocaleString('en');

test('docs/reference/README.md lists the limits of connections that the servers use', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/README.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].map(([, limit = '', value = '']) => [limit, value]);
  const listed: unknown = Object.fromEntries(rows);
  expect(listed).toMatchObject({
    'Size of the request line and all headers of a request': `${number(httpLimits.maxHeaderSize)} bytes`,
    'Time in which the headers of a request must arrive': `${number(httpLimits.headersTimeout)} ms`,
    'Time in which a whole request must arrive': `${number(httpLimits.requestTimeout)} ms`,
    'Time without any traffic after which a connection is closed during a request': `${number(httpLimits.socketTimeout)} ms`,
    'Time after which an idle connection is closed (settable)': `${number(httpLimits.keepAliveTimeout)} ms`,
    'Requests on a connection': number(httpLimits.requestsPerConnection),
    'Open connections of a server (settable)': number(httpLimits.connections),
    'Open connections of an address without a valid API key (settable)': number(httpLimits.connectionsPerAddress),
    'Open connections of a client (settable)': number(httpLimits.connectionsPerClient),
    'Requests of a connection that are handled at the same time before one had a valid API key': number(
      httpLimits.requestsBeforeKey,
    ),
  });
});
