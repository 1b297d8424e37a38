import type { ServerResponse } from 'node:http';
import { generateSecretKeys } from '@deedwire/dev-environment';
import { createMigratedDatabase, perApp, urlsOfApps } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { createLink, eventually, type Link, missing, startConnectProxy } from '@deedwire/testing';
import { expect } from 'vitest';
import { type DeliveryLog, startDeliveryLog } from '../faults/delivery-log.ts';
import { attemptKey } from '../faults/judge.ts';
import { type CellApps, type InterfacePorts, startCellApps } from './cell-apps.ts';
import { type CellProxy, startCellProxy } from './cell-proxy.ts';
import { type CellServer, type CellServers, startCellServers } from './cell-servers.ts';

/** A cell: its primary, another standby of it, and its apps. */
export interface Side {
  cell: number;
  server: CellServer;
  /** By which the operator, the proxy and the new side reach it. Its apps, receivers and its other standby do not need it. */
  link: Link;
  /** The URL of the server by the link. */
  url: string;
  twin: CellServer | null;
  apps: CellApps | null;
}

/** Cells behind HAProxy, and receivers that know which cell a request comes from. */
export interface OracleSystem {
  servers: CellServers;
  proxy: CellProxy;
  received: DeliveryLog;
  /** The first cell. */
  first: Side;
  /** The cell that may send the deliveries of subscriptions. Null: none may. */
  letSend(subscriptionIds: readonly string[], cell: number | null): void;
  /** Throws if a cell has sent a request that it may not send. */
  expectDirected(): void;
  /** How long receivers take. Some requests are in flight at every moment. */
  answerAfterMs: number;
  /** The requests of subscriptions that a receiver has not answered, to processes that were not killed. */
  inFlight(subscriptionIds: readonly string[]): string[];
  /** Starts a standby of a side, which becomes a side. */
  addSide(cell: number, of: Side): Promise<Side>;
  startApps(side: Side): Promise<void>;
  /** Adds a standby, and a second worker. */
  complete(side: Side): Promise<void>;
  /** Waits until the workers of a side have nothing left to do for these accounts. */
  untilSettled(side: Side, accountIds: readonly string[]): Promise<void>;
  /** Stops what a side consists of, and removes its data. */
  retire(side: Side): Promise<void>;
  close(): Promise<void>;
}

/** No longer than an attempt, so that a worker which was suspended beyond its lease may go on with one. */
export const leaseMs = 5_000;
// Guards against hanging only.
const settledWithinMs = 180_000;

/** @param cells how many there will be */
export async function startOracleSystem(cells: number): Promise<OracleSystem> {
  const closing: (() => Promise<unknown>)[] = [];
  const servers = await startCellServers();
  closing.push(() => servers.stop());
  const received = await startDeliveryLog();
  closing.push(() => received.close());
  const outbound = new Map<number, string>();
  const [ports, outside] = [new Map<number, InterfacePorts>(), new Map<number, InterfacePorts>()];
  for (let cell = 0; cell < cells; cell += 1) {
    // The receiver knows the cell by the address of its proxy for callback URLs.
    const outgoing = await startConnectProxy({ target: (authority) => fromAddressOf(cell, authority) });
    closing.push(() => outgoing.close());
    outbound.set(cell, outgoing.url);
    for (const map of [ports, outside]) map.set(cell, { supplier: await twoPorts(), customer: await twoPorts() });
  }
  const proxy = await startCellProxy(outside);
  closing.push(() => proxy.stop());

  const senders = new Map<string, number | null>();
  const misdirected: string[] = [];
  const unanswered = new Map<ServerResponse, string>();
  received.respond = (response) => {
    const delivery = received.deliveries.at(-1) ?? missing();
    const cell = Number(response.req.socket.remoteAddress?.split('.').at(-1)) - 1;
    const sender = senders.get(delivery.subscriptionId);
    if (sender !== cell)
      misdirected.push(`${attemptKey(delivery)} by ${cell} instead of ${sender} at ${new Date().toISOString()}`);
    const fails = delivery.path.endsWith('flaky') && delivery.attempt === 1 && delivery.sequence % 7 === 0;
    unanswered.set(response, delivery.subscriptionId);
    response.once('close', () => unanswered.delete(response));
    setTimeout(() => response.writeHead(fails ? 503 : 204).end(), system.answerAfterMs);
  };

  const logins = await urlsOfApps(await createMigratedDatabase({ url: servers.primary.url, stop: async () => {} }));
  const webhookSecretKeys = generateSecretKeys();
  const sideOf = async (cell: number, server: CellServer): Promise<Side> => {
    const link = createLink();
    closing.push(() => link.close());
    const port = await link.pass(Number(new URL(server.url).port));
    const url = Object.assign(new URL(server.url), { port }).href;
    return { cell, server, link, url, twin: null, apps: null };
  };
  const system: OracleSystem = {
    servers,
    proxy,
    received,
    first: await sideOf(0, servers.primary),
    letSend(ids, cell) {
      for (const id of ids) senders.set(id, cell);
    },
    expectDirected: () => expect(misdirected).toEqual([]),
    answerAfterMs: 100,
    inFlight: (ids) => [...unanswered.values()].filter((id) => ids.includes(id)),
    addSide: async (cell, { server, url }) => sideOf(cell, await servers.addStandby(`cell-${cell}`, server, url)),
    async startApps(side) {
      const own = ports.get(side.cell) ?? missing();
      for (const name of ['supplier', 'customer'] as const)
        for (const kind of ['port', 'adminPort'] as const)
          await side.link.pass(own[name][kind], outside.get(side.cell)?.[name][kind]);
      const port = new URL(side.server.url).port;
      side.apps = await startCellApps({
        databaseUrls: await perApp((name) => Object.assign(new URL(logins[name]), { port }).href),
        ports: own,
        webhookSecretKeys,
        env: {
          WORKER_LEASE_MS: String(leaseMs),
          WEBHOOK_PROXY_URL: outbound.get(side.cell) ?? missing(),
          TRUSTED_PROXIES: '127.0.0.1',
          DATABASE_TIMEOUT_MS: '2500',
        },
      });
      closing.push(async () => side.apps?.stop());
    },
    async complete(side) {
      side.twin = await servers.addStandby(`twin-${side.cell}`, side.server);
      await side.apps?.addWorker();
    },
    untilSettled: ({ server }, accountIds) =>
      eventually(async () => {
        const own = 'account_id = any ($1)';
        const [left] = await server.run(
          `select (select count(*)::int from webhook_event_queue where ${own}) as queued,
             (select count(*)::int from webhook_pending_delivery where ${own}) as pending,
             (select count(*)::int from webhook_replay where ended_at is null and ${own}) as replays`,
          [accountIds],
        );
        expect(left).toEqual({ queued: 0, pending: 0, replays: 0 });
      }, settledWithinMs),
    async retire(side) {
      await side.apps?.stop();
      side.apps = null;
      await side.link.close();
      for (const server of [side.server, side.twin]) {
        if (server === null) continue;
        await server.kill();
        await servers.shell(`rm -r '${server.dataDirectory}'`, {});
      }
    },
    async close() {
      for (const close of closing.toReversed()) await close();
    },
  };
  try {
    await system.startApps(system.first);
    await system.complete(system.first);
    return system;
  } catch (error) {
    await system.close();
    throw error;
  }
}

function fromAddressOf(cell: number, authority: string) {
  const { hostname: host, port } = new URL(`tcp://${authority}`);
  return { host, port: Number(port), localAddress: `127.0.1.${cell + 1}` };
}

const twoPorts = async () => ({ port: await findFreePort(), adminPort: await findFreePort() });
