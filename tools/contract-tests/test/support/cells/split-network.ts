import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually, runOnce } from '@deedwire/testing';
import { expect } from 'vitest';
import { createOwnedFolder, killAll, processesOfServer } from '../failover/owned-programs.ts';
import { isWithoutPostgres, postgresFolder } from '../failover/programs.ts';
import { workspaceRoot } from '../workspace-copy.ts';
import { operatorStart } from './operator-process.ts';

const ip = (...args: readonly string[]): boolean => spawnSync('ip', args, { stdio: 'ignore' }).status === 0;

function canAddNamespaces(): boolean {
  const name = `deedwire-${randomBytes(4).toString('hex')}`;
  return ip('netns', 'add', name) && ip('netns', 'del', name);
}

/** Tests that need network namespaces are skipped, unless under CI. */
export const isWithoutNamespaces = isWithoutPostgres || (process.env['CI'] !== 'true' && !canAddNamespaces());
if (isWithoutNamespaces)
  process.stderr.write('Skipped: network namespaces need root, postgresql-15 and iproute2 of Debian 12.\n');

/** A PostgreSQL in a network namespace. */
export interface ApartServer {
  /** By a socket of the file system, whatever the network does. */
  url: string;
  run(statement: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

/** An old primary in one network, and the operator and the new side in another one, with one link. */
export interface SplitNetwork {
  old: ApartServer;
  next: ApartServer;
  /** Makes the new side a standby. */
  addStandby(): Promise<void>;
  /** Starts a command of the operator, with the organization that leaves on standard input. */
  operate(args: readonly string[], input: string): OperatorRun;
  /** Nothing passes the link until `heal`. Connections stay open. */
  cut(): void;
  heal(): void;
  stop(): Promise<void>;
}

export interface OperatorRun {
  ended: Promise<{ exitCode: number | null; stdout: string; stderr: string }>;
  kill(): void;
}

const [oldAddress, newAddress] = ['198.18.0.1', '198.18.0.2'];

export async function startSplitNetwork(): Promise<SplitNetwork> {
  const prefix = `deedwire-${randomBytes(4).toString('hex')}`;
  const [oldSpace, newSpace] = [`${prefix}-old`, `${prefix}-new`];
  const folder = await createOwnedFolder('deedwire-split-');
  const { uid, gid } = await stat(folder.path);
  const owner = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const password = randomBytes(24).toString('base64url');
  const dataOf = (name: string): string => join(folder.path, name);

  /** Starts a program in a namespace. */
  function start(space: string, command: readonly string[], cwd = folder.path) {
    return spawn('ip', ['netns', 'exec', space, ...command], { cwd, env: { ...process.env, ...operatorEnv } });
  }

  async function startServer(space: string, name: string, port: number): Promise<ApartServer> {
    const server = serverAt(port);
    const child = start(space, [...owner, join(postgresFolder, 'postgres'), '-D', dataOf(name), '-p', String(port)]);
    const log = text(child.stderr);
    child.stdout.resume();
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(await log);
      expect(await server.run('select 1 as ready')).toEqual([{ ready: 1 }]);
    });
    return server;
  }

  function serverAt(port: number): ApartServer {
    const url = `postgres://postgres:${password}@localhost:${port}/postgres?host=${encodeURIComponent(folder.path)}`;
    return { url, run: (statement, values) => runOnce(url, statement, values) };
  }

  async function stop(): Promise<void> {
    for (const name of ['old', 'next']) await killAll(await processesOfServer(dataOf(name)));
    ip('netns', 'del', oldSpace);
    ip('netns', 'del', newSpace);
    await folder.remove();
  }

  const operatorEnv = {
    DATABASE_URL: `postgres://postgres:${password}@${oldAddress}:5001/postgres`,
    NEW_CELL_DATABASE_URL: `postgres://postgres:${password}@127.0.0.1:5002/postgres`,
    OPERATOR_NAME: 'ops',
  };
  try {
    for (const space of [oldSpace, newSpace]) {
      expect(ip('netns', 'add', space)).toBe(true);
      ip('-n', space, 'link', 'set', 'lo', 'up');
    }
    ip('-n', oldSpace, 'link', 'add', 'link0', 'type', 'veth', 'peer', 'name', 'link0', 'netns', newSpace);
    for (const [space, address] of [
      [oldSpace, oldAddress],
      [newSpace, newAddress],
    ] as const) {
      ip('-n', space, 'addr', 'add', `${address}/30`, 'dev', 'link0');
      ip('-n', space, 'link', 'set', 'link0', 'up');
    }
    const passwordFile = join(folder.path, 'password');
    await writeFile(passwordFile, password);
    const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await folder.run(join(postgresFolder, 'initdb'), [
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      ...login,
      `--pgdata=${dataOf('old')}`,
    ]);
    await appendFile(
      join(dataOf('old'), 'postgresql.conf'),
      `jit = off\nmax_connections = 200\nwal_keep_size = '256MB'\nlisten_addresses = '*'\nunix_socket_directories = '${folder.path}'\n`,
    );
    await appendFile(
      join(dataOf('old'), 'pg_hba.conf'),
      `host all all 198.18.0.0/30 scram-sha-256\nhost replication all 198.18.0.0/30 scram-sha-256\n`,
    );
    return {
      old: await startServer(oldSpace, 'old', 5001),
      next: serverAt(5002),
      async addStandby() {
        const from = `--dbname=${operatorEnv.DATABASE_URL}?application_name=next`;
        const flags = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync', `--pgdata=${dataOf('next')}`, from];
        const copying = start(newSpace, [...owner, join(postgresFolder, 'pg_basebackup'), ...flags]);
        copying.stdout.resume();
        const problem = text(copying.stderr);
        const [code]: (number | null)[] = await once(copying, 'close');
        if (code !== 0) throw new Error(await problem);
        await startServer(newSpace, 'next', 5002);
      },
      operate(args, input) {
        const command = [process.execPath, ...operatorStart, 'cell', 'split', ...args];
        const child = start(newSpace, command, workspaceRoot);
        child.stdin.end(input);
        const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
        return {
          ended: output.then(([stdout, stderr]) => ({ exitCode: child.exitCode, stdout, stderr })),
          kill: () => void child.kill('SIGKILL'),
        };
      },
      cut: () => void ip('-n', oldSpace, 'link', 'set', 'link0', 'down'),
      heal: () => void ip('-n', oldSpace, 'link', 'set', 'link0', 'up'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
