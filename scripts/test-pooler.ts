/**
 * `node scripts/test-pooler.ts [--no-direct] [file]…`: runs the contract tests, or those of files whose paths contain one of the
 * texts, with all apps behind a PgBouncer in transaction mode, which has to be installed. It speaks verified TLS with the server.
 * `--no-direct`: the apps have no direct connection beside it, so that the worker polls.
 */
import { join } from 'node:path';
import { startPgBouncer } from '../tools/contract-tests/test/support/proxies/pgbouncer.ts';
import { enableTls, startPostgres } from '../tools/embedded-postgres/src/index.ts';
import { runIntegration } from './run-integration.ts';

const certificates = join(import.meta.dirname, '../packages/store/test/certificates');

const isDirect = !process.argv.includes('--no-direct');
const files = process.argv.slice(2).filter((argument) => argument !== '--no-direct');

const server = await startPostgres();
try {
  await enableTls(server.url, {
    certificate: join(certificates, 'valid.pem'),
    key: join(certificates, 'server-key.pem'),
  });
  const pooler = await startPgBouncer({
    logins: [],
    admin: server.url,
    serverCa: join(certificates, 'ca.pem'),
    // Each test has a database. Its sessions end soon after its apps, so that it can be dropped.
    settings: { server_idle_timeout: '1', max_client_conn: '5000' },
  });
  try {
    process.stdout.write(`PgBouncer in transaction mode, ${isDirect ? 'with' : 'without'} direct connections\n`);
    process.exitCode = await runIntegration(files.length > 0 ? files : ['tools/contract-tests/'], {
      TEST_DATABASE_URL: server.url,
      TEST_POOLER_URL: pooler.urlFor(server.url),
      TEST_POOLER_DIRECT: isDirect ? 'on' : 'off',
    });
  } finally {
    await pooler.stop();
  }
} finally {
  await server.stop();
}
