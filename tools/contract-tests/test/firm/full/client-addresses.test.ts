import { once } from 'node:events';
import { request } from 'node:http';
import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { eventually, findProgram } from '@deedwire/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { startCellProxy } from '../../support/cells/cell-proxy.ts';
import { startPageHaproxy } from '../../support/proxies/page-haproxy.ts';
import { startCaddy } from '../support/caddy.ts';

// The proxies connect from 127.0.0.1, the client from here. Another machine is no trusted proxy either.
const client = '127.0.0.2';

const lines: string[] = [];
const t = await startTestSystem({
  apps: ['lender-api', 'partner-api'],
  env: { TRUSTED_PROXIES: '127.0.0.1' },
  onLine: (_app, line) => void lines.push(line),
});
afterAll(() => t.close());

const portsOf = ({ url, adminUrl }: Pick<RunningApp, 'adminUrl' | 'url'>) => ({
  port: Number(new URL(url ?? '').port),
  adminPort: Number(new URL(adminUrl).port),
});
const cell = { lender: portsOf(t.system.apps['lender-api']), partner: portsOf(t.system.apps['partner-api']) };

const addressOf = (port: number): string => `127.0.0.1:${port}`;

/** With one server for each interface. */
async function startSample() {
  const { port, stop } = await startPageHaproxy(
    'network.md',
    'defaults',
    (sample, own) =>
      Object.values(cell)
        .reduce(
          (text, api) =>
            text.replace(/server a 10\S+ port \d+/, `server a ${addressOf(api.port)} port ${api.adminPort}`),
          sample.replaceAll(/^ {2}server b .*\n/gm, ''),
        )
        .replace('frontend clients\n', `frontend clients\n  bind ${addressOf(own)}\n`),
    (own) => fetch(`http://${addressOf(own)}`),
  );
  return { url: `http://${addressOf(port)}`, stop };
}

const proxies = [
  {
    name: 'deploy/haproxy/cells.cfg',
    program: 'haproxy',
    start: () => startCellProxy(new Map([[0, { lenders: cell.lender, partners: cell.partner }]])),
  },
  { name: 'the sample of docs/operations/network.md', program: 'haproxy', start: startSample },
  { name: 'deploy/compose/Caddyfile', program: 'caddy', start: () => startCaddy(cell) },
];

const many = Array.from({ length: 60 }, (_, index) => [`A${index}`, 'x']).flat();

describe.each(proxies.filter(({ program }) => process.env['CI'] === 'true' || findProgram(program) !== undefined))(
  'behind $name',
  async ({ start }) => {
    const { url, stop } = await start();
    afterAll(stop);

    test.each([
      ['no header', []],
      ['Forwarded', ['Forwarded', 'for=198.51.100.9']],
      ['Forwarded that cannot be read', ['Forwarded', 'x']],
      ['Forwarded twice, in odd case', ['fORWARDED', 'for=198.51.100.9', 'FORWARDED', 'for=127.0.0.1']],
      ['X-Forwarded-For', ['X-Forwarded-For', '198.51.100.9']],
      ['X-Forwarded-For twice, in odd case', ['x-fORWARDED-fOR', '198.51.100.9', 'X-FORWARDED-FOR', '127.0.0.1']],
      ['X-Forwarded-For that cannot be read', ['X-Forwarded-For', 'x,']],
      ['both', ['Forwarded', 'for=198.51.100.9', 'X-Forwarded-For', '198.51.100.9']],
      ['both as headers of the connection', ['Connection', 'close, Forwarded, X-Forwarded-For', 'Forwarded', 'x']],
      ['other headers', ['X-Real-IP', '198.51.100.9', 'Via', '1.1 x', 'X-Forwarded-Host', 'x', ...many]],
    ])('a client cannot hide its address with %s', async (_, headers) => {
      for (const path of ['/lenders/graphql', '/partners/graphql']) {
        const requestId = await send(`${url}${path}`, headers);
        await eventually(() => expect(refusalOf(requestId)).toBeDefined());
        expect(refusalOf(requestId)).toMatchObject({ address: client });
      }
    });
  },
);

/** Sends a request without credentials. Returns its id. */
async function send(url: string, headers: readonly string[]): Promise<unknown> {
  const sent = request(url, {
    method: 'POST',
    agent: false,
    localAddress: client,
    headers: ['Host', new URL(url).host, 'Content-Type', 'application/json', 'Content-Length', '2', ...headers],
  });
  sent.end('{}');
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(401);
  return response.headers['x-request-id'];
}

/** What the log says of a refused request. */
function refusalOf(requestId: unknown): unknown {
  const found = lines
    .map((line): { msg?: string; requestId?: string } => JSON.parse(line))
    .filter((line) => line.msg === 'credentials refused' && line.requestId === requestId);
  return found[0];
}
