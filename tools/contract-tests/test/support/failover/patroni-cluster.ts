import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { connect, eventually, missing } from '@deedwire/testing';
import { expect } from 'vitest';
import { startPrimaryProxy } from '../proxies/primary-proxy.ts';
import { createOwnedFolder, killAll, processesOfServer } from './owned-programs.ts';
import { postgresFolder } from './programs.ts';

/** Three PostgreSQL servers with Patroni, an etcd, and an HAProxy that asks Patroni which server is the primary. */
export interface PatroniCluster {
  /** The URL of the primary for a superuser, through HAProxy. */
  url: string;
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

const names = ['a', 'b', 'c'];
// Guards against hanging only.
const healthyWithinMs = 300_000;
const lagMax = 64 * 1024;

export async function startPatroniCluster({ synchronous }: PatroniClusterOptions): Promise<PatroniCluster> {
  const folder = await createOwnedFolder('deedwire-patroni-');
  const [etcdPort, etcdPeerPort] = [await findFreePort(), await findFreePort()];
  const etcd = await folder.start('etcd', 'etcd', etcdArguments(join(folder.path, 'etcd'), etcdPort, etcdPeerPort));
  const passwords = { superuser: secret(), replication: secret(), rewind: secret() };
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
    const configuration = configurationOf(node, { folder: folder.path, etcdPort, passwords, synchronous });
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
      const response = await fetch(`http://127.0.0.1:${node.apiPort}/primary`).catch(() => null);
      if (response?.status === 200) return node;
    }
    throw new Error('The cluster has no leader.');
  }

  async function untilHealthy(): Promise<void> {
    await eventually(async () => {
      const all = await members();
      const leader = all.find(({ role }) => role === 'leader') ?? missing();
      const replicas = all.filter(({ role }) => role !== 'leader');
      expect(leader.state).toBe('running');
      expect(replicas).toHaveLength(names.length - 1);
      for (const { state, timeline, lag } of replicas) {
        expect(['running', 'streaming']).toContain(state);
        expect(timeline).toBe(leader.timeline);
        expect(lag).toBeLessThan(lagMax);
      }
      if (synchronous) expect(replicas.map(({ role }) => role)).toContain('sync_standby');
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
    await killAll(etcd.pid === undefined ? [] : [etcd.pid]);
    await folder.remove();
  }

  let proxy: Awaited<ReturnType<typeof startPrimaryProxy>> | null = null;
  try {
    const [first = missing(), ...others] = nodes;
    await startNode(first);
    await eventually(async () => expect(await findLeader()).toBe(first), healthyWithinMs);
    for (const node of others) await startNode(node);
    await untilHealthy();
    proxy = await startPrimaryProxy(nodes);
    const url = `postgres://postgres:${passwords.superuser}@127.0.0.1:${proxy.port}/postgres`;
    const run = async (statement: string, values?: readonly unknown[]) => {
      const connection = await connect(url);
      try {
        return await connection.run(statement, values);
      } finally {
        await connection.close();
      }
    };
    return {
      url,
      untilHealthy,
      async killLeader() {
        const leader = await findLeader();
        const servers = await processesOfServer(leader.dataDirectory);
        const { patroni } = leader;
        if (patroni?.pid === undefined) throw new Error('Patroni does not run.');
        const ended = once(patroni, 'exit');
        leader.patroni = null;
        await killAll([patroni.pid, ...servers]);
        await ended;
        return () => startNode(leader);
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
  folder: string;
  etcdPort: number;
  passwords: { superuser: string; replication: string; rewind: string };
  synchronous: boolean;
}

/** The settings of `docs/operations.md`, and what lets three servers run on one machine. */
function configurationOf(node: Node, { folder, etcdPort, passwords, synchronous }: Cluster): object {
  const hba = ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'];
  return {
    scope: 'deedwire',
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
      pgpass: join(folder, `pgpass-${node.name}`),
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
