import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHarness } from '@deedwire/dev-environment/test/firm/harness';
import { credentialHeaders, findProgram, listen, type Listening } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { test } from 'vitest';
import { startCaddy } from '../support/caddy.ts';

const isWithoutCaddy = findProgram('caddy') === undefined && process.env['CI'] !== 'true';
if (isWithoutCaddy) process.stdout.write('keep-alive: caddy is not on the PATH, its idle connections are not tested\n');

/** Node closes an idle connection a second after `KEEP_ALIVE_TIMEOUT_MS`, which is 65,000 by default. */
const closedAfterMs = 66_000;
const query = '{ __typename }';

const t = await forFile(createHarness());
const apis = {
  lender: await t.startLenderApi(),
  partner: await t.startPartnerApi(),
};
await Promise.all([apis.lender.whenReady, apis.partner.whenReady]);

test
  .skipIf(isWithoutCaddy)
  .concurrent(
    'no request behind the Caddyfile of Compose fails when the server closes idle connections',
    async ({ expect, onTestFinished }) => {
      const link = await startSlowLink(apis.lender.port);
      onTestFinished(() => link.close());
      const { url, stop } = await startCaddy({ lender: link, partner: apis.partner });
      onTestFinished(stop);
      const headers = { ...credentialHeaders(t.accounts.lender.credential), 'Content-Type': 'application/json' };
      const send = async (): Promise<number> =>
        (await fetch(`${url}/lenders/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).status;

      const count = 32;
      const sendMany = (gapMs: number): Promise<number[]> =>
        Promise.all(Array.from({ length: count }, (_, index) => sleep(index * gapMs).then(send)));
      const succeeded = Array.from({ length: count }, () => 200);
      expect(await sendMany(0)).toEqual(succeeded);
      // Caddy keeps as many connections as it needs at a time.
      expect(await sendMany(0)).toEqual(succeeded);
      expect(link.connections.length).toBeLessThanOrEqual(count);
      // While the end of a connection is on its way, a request passes it.
      await sleep(closedAfterMs - 40);
      expect(await sendMany(1)).toEqual(succeeded);
    },
  );

/** Forwards connections to a port, each byte 25 ms later. */
async function startSlowLink(port: number): Promise<Listening> {
  const delayMs = 25;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    forward(client, upstream);
    forward(upstream, client);
  });
  function forward(from: Socket, to: Socket): void {
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), delayMs));
    from.on('end', () => setTimeout(() => to.end(), delayMs));
    from.on('close', () => setTimeout(() => to.destroy(), delayMs));
  }
  return listen(server);
}
