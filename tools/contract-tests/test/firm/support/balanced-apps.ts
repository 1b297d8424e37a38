import { appOf } from '@deedwire/core';
import type { RunningApp } from '@deedwire/dev-environment';
import type { AppName } from '@deedwire/dev-environment/firm/system';
import type { TestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { firm, interfaceNames } from '@deedwire/firm';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { type HaproxyServer } from '../../support/proxies/haproxy-servers.ts';
import { type Haproxy, startHaproxy } from '../../support/proxies/haproxy.ts';

/** Two processes of each app, behind HAProxy. */
export interface BalancedApps {
  /** The URL of HAProxy. */
  url: string;
  /**
   * Sends SIGTERM to a process, waits until it has exited with 0, starts another one in its place, and waits until HAProxy sends
   * requests to it, as a deployment does.
   *
   * @param from the folder of its workspace. Defaults to this one
   */
  restart(name: AppName, place: Place, from?: string): Promise<void>;
  /** What HAProxy has seen since it was started. */
  failures(): Promise<Pick<HaproxyServer, 'failedConnections' | 'failedResponses'>>;
  /** Stops HAProxy. The apps end with the system. */
  close(): Promise<void>;
}

export const places = ['a', 'b'] as const;
export type Place = (typeof places)[number];

export const appNames: readonly AppName[] = [...interfaceNames.map(appOf), 'webhook-worker'];

const paths = new Map<AppName, string>(
  interfaceNames.map((name) => [appOf(name), `${firm.interfaces[name].path}/graphql`]),
);

const keyOf = (name: AppName, place: Place): string => `${name}/${place}`;

/** @param from the folder of the workspace of all processes. Defaults to this one */
export async function startBalancedApps({ system }: TestSystem, from?: string): Promise<BalancedApps> {
  const ports = new Map<string, { port: number; adminPort: number }>();
  const running = new Map<string, RunningApp>();
  for (const name of appNames)
    for (const place of places)
      ports.set(keyOf(name, place), { port: await findFreePort(), adminPort: await findFreePort() });

  async function start(name: AppName, place: Place, folder: string | undefined): Promise<void> {
    const { port, adminPort } = ports.get(keyOf(name, place)) ?? { port: 0, adminPort: 0 };
    const env = {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      TRUSTED_PROXIES: '127.0.0.1',
      // That of production.
      SHUTDOWN_DELAY_MS: '5000',
      ...(name === 'webhook-worker' && { WORKER_LEASE_MS: '5000' }),
    };
    running.set(keyOf(name, place), await system.add(name, env, folder));
  }

  let haproxy: Haproxy | undefined;
  async function untilUp(keys: readonly string[]): Promise<void> {
    await eventually(async () => {
      const servers = await haproxy?.servers();
      expect(keys.filter((key) => servers?.get(key)?.isUp !== true)).toEqual([]);
    });
  }

  await Promise.all(appNames.flatMap((name) => places.map((place) => start(name, place, from))));
  haproxy = await startHaproxy(
    appNames.map((name) => ({
      name,
      path: paths.get(name) ?? null,
      servers: places.map((place) => ({
        name: place,
        ...(ports.get(keyOf(name, place)) ?? { port: 0, adminPort: 0 }),
        // The worker has no port for clients.
        ...(name === 'webhook-worker' && { port: ports.get(keyOf(name, place))?.adminPort ?? 0 }),
      })),
    })),
  );
  const balancer = haproxy;
  await untilUp([...ports.keys()]);
  return {
    url: balancer.url,
    async restart(name, place, folder) {
      const app = running.get(keyOf(name, place));
      app?.kill('SIGTERM');
      expect([keyOf(name, place), await app?.ended]).toEqual([keyOf(name, place), { exitCode: 0, signal: null }]);
      await start(name, place, folder);
      await untilUp([keyOf(name, place)]);
    },
    async failures() {
      const seen = [...(await balancer.servers()).values()];
      const sum = (of: (server: HaproxyServer) => number) => seen.reduce((total, server) => total + of(server), 0);
      return {
        failedConnections: sum(({ failedConnections }) => failedConnections),
        failedResponses: sum(({ failedResponses }) => failedResponses),
      };
    },
    close: () => balancer.stop(),
  };
}
