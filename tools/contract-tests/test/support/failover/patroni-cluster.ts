import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { eventually, missing, runOnce } from '@deedwire/testing';
import { expect } from 'vitest';
import { startPrimaryProxy } from '../proxies/primary-proxy.ts';
import { createOwnedFolder, killAll, type OwnedFolder, processesOfServer } from './owned-programs.ts';
import { postgresFolder } from './programs.ts';

/** PostgreSQL servers with Patroni, an etcd, and an HAProxy that asks Patroni which server is the primary. */
export interface PatroniCluster {
  /** The URL of the primary for a superuser, through HAProxy. */
  url: string;
  /** The URL of each server for a superuser, by the name of its member. */
  servers: Readonly<Record<string, string>>;
  /** What a standby cluster shares with it. */
  shared: Shared;
  /** The name of the leader, or of the leader of the standby cluster. */
  leader(): Promise<string>;
  /** Kills the Patroni of the leader without warning, not its server. @returns starts it again */
  killPatroni(): Promise<() => Promise<void>>;
  /** Runs `patronictl` for this cluster. Rejects if it does not exit with 0 in 30 seconds: it waits for etcd. */
  patronictl(...args: string[]): Promise<string>;
  /** Makes another member the leader. */
  switchOver(): Promise<void>;
  /** Resolves once all servers run, and a standby is synchronous if one has to be. */
  untilHealthy(): Promise<void>;
  /**
   * Kills the primary and its Patroni without warning.
   *
   * @returns starts them again. Patroni rewinds the server, and it follows the new primary
   */
  killLeader(): Promise<() => Promise<void>>;
  /** Whether the standbys have all that was committed when the call began. */
  isReplicated(): Promise<boolean>;
  /** Suspends what sends the log of the primary to the standbys: they lose what is committed from now on. */
  suspendReplication(): Promise<void>;
  /** The state of each member. */
  describe(): Promise<string>;
  /** Kills everything. */
  stop(): Promise<void>;
}

export interface PatroniClusterOptions {
  /** `synchronous_mode` with `synchronous_mode_strict`. */
  synchronous: boolean;
  /** Of its members. Defaults to three. */
  names?: readonly string[];
  /** Makes it a standby cluster of this one, which has to be stopped after it. */
  standbyOf?: PatroniCluster;
}

interface Shared {
  folder: OwnedFolder;
  etcdPort: number;
  passwords: { superuser: string; replication: string; rewind: string };
  /** Kills etcd without warning. @returns starts it again */
  killEtcd(): Promise<() => Promise<void>>;
}

interface Node {
  name: string;
  port: number;
  apiPort: number;
  dataDirectory: string;
  configuration: string;
  patroni: ChildProcess | null;
}

interface Member {
  name: string;
  role: string;
  state: string;
  timeline?: number;
  lag?: number | string;
}

// Guards against hanging only.
const healthyWithinMs = 300_000;
const lagMax = 64 * 1024;

async function startShared(): Promise<Shared> {
  const folder = await createOwnedFolder('deedwire-patroni-');
  const [etcdPort, peerPort] = [await findFreePort(), await findFreePort()];
  const args = etcdArguments(join(folder.path, 'etcd'), etcdPort, peerPort);
  let etcd = await folder.start('etcd', 'etcd', args);
  return {
    folder,
    etcdPort,
    passwords: { superuser: secret(), replication: secret(), rewind: secret() },
    async killEtcd() {
      await killAll(etcd.pid === undefined ? [] : [etcd.pid]);
      return async () => void (etcd = await folder.start('etcd', 'etcd', args));
    },
  };
}

export async function startPatroniCluster({
  synchronous,
  names = ['a', 'b', 'c'],
  standbyOf,
}: PatroniClusterOptions): Promise<PatroniCluster> {
  const shared = standbyOf?.shared ?? (await startShared());
  const { folder, passwords } = shared;
  const scope = standbyOf === undefined ? 'deedwire' : 'deedwire-new';
  const nodes: Node[] = [];
  for (const name of names) {
    const node: Node = {
      name,
      port: await findFreePort(),
      apiPort: await findFreePort(),
      dataDirectory: join(folder.path, `data-${name}`),
      configuration: join(folder.path, `patroni-${name}.json`),
      patroni: null,
    };
    // Patroni reads YAML, of which JSON is a part.
    const configuration = configurationOf(node, { shared, scope, synchronous, standbyOf });
    await writeFile(node.configuration, JSON.stringify(configuration, null, 2));
    nodes.push(node);
  }

  async function startNode(node: Node): Promise<void> {
    node.patroni = await folder.start(`patroni-${node.name}`, 'patroni', [node.configuration]);
  }

  /** What the running members say about the cluster. */
  async function members(): Promise<Member[]> {
    for (const { apiPort, patroni } of nodes) {
      if (patroni === null) continue;
      const response = await fetch(`http://127.0.0.1:${apiPort}/cluster`).catch(() => null);
      const body = (await response?.json().catch(() => null)) as { members?: Member[] } | null;
      if (body?.members !== undefined) return body.members;
    }
    return [];
  }

  async function findLeader(): Promise<Node> {
    for (const node of nodes) {
      if (node.patroni === null) continue;
      const response = await fetch(`http://127.0.0.1:${node.apiPort}/leader`).catch(() => null);
      if (response?.status === 200) return node;
    }
    throw new Error('The cluster has no leader.');
  }

  async function untilHealthy(): Promise<void> {
    await eventually(async () => {
      const all = await members();
      const leader = all.find(({ role }) => role.endsWith('leader')) ?? missing();
      const replicas = all.filter((member) => member !== leader);
      expect(['running', 'streaming']).toContain(leader.state);
      expect(replicas).toHaveLength(names.length - 1);
      for (const { state, timeline, lag } of replicas) {
        expect(['running', 'streaming']).toContain(state);
        expect(timeline).toBe(leader.timeline);
        expect(lag).toBeLessThan(lagMax);
      }
      if (synchronous && leader.role === 'leader' && replicas.length > 0)
        expect(replicas.map(({ role }) => role)).toContain('sync_standby');
    }, healthyWithinMs).catch(async (cause: unknown) => {
      const state = JSON.stringify(await members());
      throw new Error(`The cluster did not become healthy: ${state}\n${await folder.logs()}`, { cause });
    });
  }

  async function stop(): Promise<void> {
    await proxy?.stop();
    const patronis = nodes.flatMap(({ patroni }) => patroni?.pid ?? []);
    // First, so that none of them starts a server again.
    await killAll(patronis);
    for (const { dataDirectory } of nodes) await killAll(await processesOfServer(dataDirectory));
    if (standbyOf !== undefined) return;
    await shared.killEtcd();
    await folder.remove();
  }

  async function killPatroni(leader: Node, servers: readonly number[]): Promise<() => Promise<void>> {
    const { patroni } = leader;
    if (patroni?.pid === undefined) throw new Error('Patroni does not run.');
    const ended = once(patroni, 'exit');
    leader.patroni = null;
    await killAll([patroni.pid, ...servers]);
    await ended;
    return () => startNode(leader);
  }

  const patronictl = (...args: string[]): Promise<string> =>
    folder.run('timeout', ['30', 'patronictl', '-c', nodes[0]?.configuration ?? '', ...args]);

  let proxy: Awaited<ReturnType<typeof startPrimaryProxy>> | null = null;
  try {
    const [first = missing(), ...others] = nodes;
    await startNode(first);
    await eventually(async () => expect(await findLeader()).toBe(first), healthyWithinMs);
    for (const node of others) await startNode(node);
    await untilHealthy();
    proxy = await startPrimaryProxy(nodes, standbyOf === undefined ? 1 : 0);
    const urlAt = (port: number) => `postgres://postgres:${passwords.superuser}@127.0.0.1:${port}/postgres`;
    const url = urlAt(proxy.port);
    const run = (statement: string, values?: readonly unknown[]) => runOnce(url, statement, values);
    return {
      url,
      servers: Object.fromEntries(nodes.map(({ name, port }) => [name, urlAt(port)])),
      shared,
      untilHealthy,
      leader: async () => (await findLeader()).name,
      async killLeader() {
        const leader = await findLeader();
        return killPatroni(leader, await processesOfServer(leader.dataDirectory));
      },
      killPatroni: async () => killPatroni(await findLeader(), []),
      patronictl,
      async switchOver() {
        const { name } = await findLeader();
        await patronictl('switchover', scope, '--force');
        await eventually(async () => expect((await findLeader()).name).not.toBe(name), healthyWithinMs);
      },
      async isReplicated() {
        const [{ position } = {}] = await run('select pg_current_wal_lsn()::text as position');
        const behind = await run('select from pg_stat_replication where flush_lsn < $1::pg_lsn', [position]);
        return behind.length === 0;
      },
      async suspendReplication() {
        const senders = await run('select pid::int from pg_stat_replication');
        expect(senders).toHaveLength(names.length - 1);
        for (const { pid } of senders) process.kill(Number(pid), 'SIGSTOP');
      },
      describe: async () => JSON.stringify(await members()),
      stop,
    };
  } catch (cause) {
    const logs = await folder.logs();
    await stop();
    throw new Error(`The cluster did not start.\n${logs}`, { cause });
  }
}

const secret = (): string => randomBytes(24).toString('base64url');

function etcdArguments(dataDirectory: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    '--name=etcd',
    `--data-dir=${dataDirectory}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
  ];
}

interface Cluster {
  shared: Shared;
  scope: string;
  synchronous: boolean;
  standbyOf: PatroniCluster | undefined;
}

/** The settings of `docs/operations/backup.md`, and what lets three servers run on one machine. */
function configurationOf(node: Node, { shared, scope, synchronous, standbyOf }: Cluster): object {
  const { folder, etcdPort, passwords } = shared;
  const hba = ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'];
  return {
    scope,
    name: node.name,
    restapi: { listen: `127.0.0.1:${node.apiPort}`, connect_address: `127.0.0.1:${node.apiPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 5,
        retry_timeout: 5,
        // A standby that lacks more is not promoted.
        maximum_lag_on_failover: synchronous ? 1_048_576 : 1_073_741_824,
        ...(synchronous && { synchronous_mode: true, synchronous_mode_strict: true }),
        ...(standbyOf && {
          standby_cluster: {
            host: '127.0.0.1',
            port: new URL(standbyOf.url).port,
            create_replica_methods: ['basebackup'],
          },
        }),
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: {
            max_connections: 200,
            shared_buffers: '64MB',
            max_wal_size: '256MB',
            wal_keep_size: '256MB',
            synchronous_commit: 'on',
            password_encryption: 'scram-sha-256',
            jit: 'off',
            timezone: 'UTC',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${node.port}`,
      connect_address: `127.0.0.1:${node.port}`,
      data_dir: node.dataDirectory,
      bin_dir: postgresFolder,
      pgpass: join(folder.path, `pgpass-${node.name}`),
      pg_hba: hba,
      parameters: { unix_socket_directories: '' },
      authentication: {
        superuser: { username: 'postgres', password: passwords.superuser },
        replication: { username: 'replicator', password: passwords.replication },
        rewind: { username: 'rewinder', password: passwords.rewind },
      },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}
