import { chown, chmod, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from './database.ts';

// Guards against hanging only: a server reads its files at once.
const enabledWithinMs = 60_000;

/**
 * Lets a server of this machine accept TLS connections. Others are still accepted.
 *
 * @param serverUrl the URL for a superuser
 * @param files paths of PEM files, which are copied to the data directory
 */
export async function enableTls(serverUrl: string, files: { certificate: string; key: string }): Promise<void> {
  await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    const directory = rows[0]?.data_directory ?? '';
    const { uid, gid } = await stat(directory);
    for (const [setting, file] of [
      ['ssl_cert_file', files.certificate],
      ['ssl_key_file', files.key],
    ] as const) {
      const path = join(directory, `${setting}.pem`);
      await copyFile(file, path);
      await chown(path, uid, gid);
      // PostgreSQL rejects keys that others can read.
      await chmod(path, 0o600);
      await client.query(`ALTER SYSTEM SET ${setting} = '${path}'`);
    }
    await client.query('ALTER SYSTEM SET ssl = on');
    await client.query('SELECT pg_reload_conf()');
  });
  const deadline = performance.now() + enabledWithinMs;
  while (!(await speaksTls(serverUrl))) {
    if (performance.now() > deadline) throw new Error('The server does not speak TLS. See its log.');
    await sleep(50);
  }
}

function speaksTls(serverUrl: string): Promise<boolean> {
  return withClient(
    serverUrl,
    async (client) => (await client.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on',
  );
}
