import { spawn } from 'node:child_process';
import { chown, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@deedwire/embedded-postgres';

/** A PgBouncer in transaction mode. */
export interface PgBouncer {
  /** The URL of a login through the pooler. */
  urlFor(directUrl: string): string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** Direct URLs of the logins that may connect. With `admin`, every login may. */
  logins: readonly string[];
  /** The direct URL of a superuser, with which PgBouncer reads the passwords of other logins. */
  admin?: string;
  /** The file of the certificate of the server's CA, in PEM. PgBouncer then speaks verified TLS with the server. */
  serverCa?: string;
  /** Further settings, for example `ignore_startup_parameters`. */
  settings?: Readonly<Record<string, string>>;
}

// PgBouncer does not run as root. This user exists on every Unix.
const nobody = 65_534;

/** Starts PgBouncer, which has to be on the PATH, in front of the server of the logins. */
export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { logins, admin, serverCa, settings = {} } = options;
  const urls = [...logins, ...(admin === undefined ? [] : [admin])].map((login) => new URL(login));
  const [first] = urls;
  if (first === undefined) throw new Error('PgBouncer needs a login.');
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const port = await findFreePort();
  const file = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  await writeFile(
    users,
    urls.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join(''),
  );
  const ca = join(folder, 'ca.pem');
  if (serverCa !== undefined) await copyFile(serverCa, ca);
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    ...(admin !== undefined && { auth_user: new URL(admin).username }),
    pool_mode: 'transaction',
    default_pool_size: 10,
    max_client_conn: 1_000,
    ...(serverCa !== undefined && { server_tls_sslmode: 'verify-full', server_tls_ca_file: ca }),
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  await writeFile(
    file,
    ['[databases]', `* = host=${first.hostname} port=${first.port}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot)
    for (const path of [folder, file, users, ...(serverCa === undefined ? [] : [ca])])
      await chown(path, nobody, nobody);
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...(isRoot && { uid: nobody, gid: nobody }) });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const failed = ended.then(() => Promise.reject(new Error('PgBouncer has ended.')));
  await Promise.race([untilListening(port), failed]);
  failed.catch(() => {});
  return {
    urlFor(directUrl) {
      const url = new URL(directUrl);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const isListening = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isListening) return;
    await sleep(50);
  }
}
