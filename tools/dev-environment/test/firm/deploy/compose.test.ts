import { X509Certificate } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { appOf } from '@deedwire/core';
import { findFreePort } from '@deedwire/embedded-postgres';
import { firm, interfaceNames } from '@deedwire/firm';
import { createLink, type Credential } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { groupRole } from '../../../src/start-system.ts';
import { workspaceRoot } from '../../../src/workspace.ts';
import { isWithout, run } from '../../deploy/support/containers.ts';
import { buildDebianImages } from '../../deploy/support/debian-images.ts';
import { expectDelivery, type Post } from './support/journey.ts';

const context = inject('containers');
const containers = context ?? { env: {}, folder: '', images: {} };
const servers = [...interfaceNames.map(appOf), 'webhook-worker'] as const;
const files = ['compose.yaml', 'compose.override.yaml'];

const podman = (...podmanArguments: string[]): Promise<string> => run(containers, 'podman', podmanArguments);
const containerOf = (service: string): string => `deedwire_${service}_1`;

/** Sends a query over TLS to `localhost`, whose certificate has to be one of Caddy's CA. */
function postThroughCaddy(ca: string): Post {
  return (url, credential, { query, variables }) =>
    new Promise((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          ca,
          headers: {
            'Content-Type': 'application/json',
            'X-Service-Client-Id': credential.clientId,
            'X-Service-API-Key': credential.apiKey,
            'X-Service-Organization-Id': credential.organizationId,
          },
        },
        (response) => {
          const { statusCode = 0 } = response;
          text(response).then(
            (body) => resolve({ status: statusCode, body: body === '' ? {} : JSON.parse(body) }),
            reject,
          );
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify({ query, variables }));
    });
}

/** Requests a URL from a container in a network. Returns the status, or the code of the error. */
const reach = (network: string, url: string): Promise<string> => {
  const script = `fetch('http://${url}').then(({ status }) => status, ({ cause }) => cause.code).then(console.log)`;
  const image = 'localhost/deedwire/operator-cli:local';
  return podman('run', '--rm', `--network=${network}`, '--entrypoint=/usr/bin/node', image, '-e', script);
};

describe.skipIf(context === null || isWithout('podman-compose', 'openssl'))('compose.yaml with podman-compose', () => {
  let parent: string;
  let folder: string;
  let env: Record<string, string>;
  let httpsPort: number;
  let prometheusPort: number;

  const compose = (...composeArguments: string[]): Promise<string> =>
    run(
      containers,
      'podman-compose',
      [...files.flatMap((name) => ['--file', join(folder, name)]), '--project-name=deedwire', ...composeArguments],
      env,
    );

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'compose-'));
    folder = join(parent, 'deploy');
    await cp(join(workspaceRoot, 'deploy/compose.yaml'), join(folder, 'compose.yaml'));
    // The alerts wait for minutes.
    const rules = await readFile(join(workspaceRoot, 'deploy/prometheus/rules.yml'), 'utf8');
    await mkdir(join(folder, 'prometheus'));
    await writeFile(join(folder, 'prometheus/rules.yml'), rules.replaceAll(/for: \d+m/g, 'for: 1s'));
    for (const name of ['Caddyfile', 'pg_hba.conf', 'prepare.sh', 'prometheus.yml'])
      await cp(join(workspaceRoot, 'deploy/compose', name), join(folder, 'compose', name));
    httpsPort = await findFreePort();
    prometheusPort = await findFreePort();
    env = {
      POSTGRES_IMAGE: 'localhost/debian/postgres:local',
      CADDY_IMAGE: 'localhost/debian/caddy:local',
      HTTPS_PORT: `127.0.0.1:${httpsPort}`,
      HTTP_PORT: `127.0.0.1:${await findFreePort()}`,
      PROMETHEUS_IMAGE: 'localhost/debian/prometheus:local',
      PROMETHEUS_PORT: String(prometheusPort),
    };
    // The receiver has no TLS and a private address.
    const environment = {
      NODE_ENV: 'test',
      WEBHOOK_CALLBACK_POLICY: 'development',
      DATABASE_TIMEOUT_MS: '20000',
      WORKER_UNREADY_AFTER_MS: '1000',
    };
    const services = Object.fromEntries(servers.map((app) => [app, { environment }]));
    await writeFile(join(folder, 'compose.override.yaml'), JSON.stringify({ services }));
    await buildDebianImages(containers, parent);
    await run(containers, join(folder, 'compose/prepare.sh'), []);
  });
  afterAll(async () => {
    await compose('down', '--volumes');
    await rm(parent, { recursive: true });
  });

  /** What Prometheus answers. */
  const query = async (expression: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${prometheusPort}/api/v1/query?query=${expression}`)).text();

  /** Runs a command of the operator in a container of the network of the system. */
  async function operate<Result>(...operatorArguments: string[]): Promise<Result> {
    const secrets = join(folder, 'compose/secrets');
    const mounts = ['operator-url:/run/secrets/database-url', 'ca.pem:/etc/deedwire/ca.pem'];
    const options = ['--rm', '--read-only', '--cap-drop=all', '--network=deedwire_default'];
    const volumes = mounts.map((mount) => `--volume=${secrets}/${mount}:ro`);
    const command = ['localhost/deedwire/operator-cli:local', ...operatorArguments, '--json'];
    const output = await podman(
      'run',
      ...options,
      ...volumes,
      '--env=DATABASE_URL_FILE=/run/secrets/database-url',
      ...command,
    );
    return JSON.parse(output);
  }

  test('prepare.sh makes a certificate for PostgreSQL, and keeps what exists', async () => {
    const secrets = join(folder, 'compose/secrets');
    const certificate = new X509Certificate(await readFile(join(secrets, 'server-certificate')));
    const ca = new X509Certificate(await readFile(join(secrets, 'ca.pem')));
    expect(certificate.checkHost('postgres')).toBe('postgres');
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect((await stat(secrets)).mode & 0o077).toBe(0);
    await run(containers, join(folder, 'compose/prepare.sh'), []);
    expect(new X509Certificate(await readFile(join(secrets, 'ca.pem'))).fingerprint256).toBe(ca.fingerprint256);
  });

  test('runs the whole system with verified TLS to the database, and both interfaces under one TLS name', async () => {
    // podman-compose 1.0.3 creates networks without their subnets.
    await podman('network', 'create', '--internal', '--subnet=172.30.41.0/24', 'deedwire_admin');
    await compose('up', '--detach', '--no-build');
    const origin = `https://localhost:${httpsPort}`;
    const data = await podman('volume', 'inspect', '--format={{.Mountpoint}}', 'deedwire_caddy');
    const caFile = join(data, 'caddy/pki/authorities/local/root.crt');
    await expect.poll(() => readFile(caFile, 'utf8').catch(String)).toContain('END CERTIFICATE');
    const ca = await readFile(caFile, 'utf8');
    const post = postThroughCaddy(ca);

    // The logins are created after the migrations. Until then, the apps are not ready.
    const unknown: Credential = { clientId: 'x', apiKey: 'x', organizationId: 'x' };
    for (const path of interfaceNames.map((name) => `${firm.interfaces[name].path}/graphql`)) {
      await expect
        .poll(
          async () => (await post(`${origin}${path}`, unknown, { query: '{ __typename }' }).catch(() => null))?.status,
        )
        .toBe(401);
    }
    expect((await post(`${origin}/ready`, unknown, { query: '' })).status).toBe(404);
    // The portal, which gets no link.
    expect((await post(`${origin}/partners/portal/1/session`, unknown, { query: '' })).status).toBe(401);

    const organization = await operate<{ id: string }>('organization', 'create', '--name', 'Analytical Engines');
    const of = ['--organization', organization.id, '--name', 'Lovelace'];
    const lender = await operate<{ id: string }>('lender', 'create', ...of);
    const partner = await operate<{ id: string }>('partner', 'create', ...of);
    const issue = (kind: string, account: { id: string }): Promise<Credential> =>
      operate('credential', 'issue', '--interface', kind, '--account', account.id);
    const accounts = {
      lender: { id: lender.id, credential: await issue('lender', lender) },
      partner: { id: partner.id, credential: await issue('partner', partner) },
    };

    const gateway = await podman('network', 'inspect', '--format={{(index .Subnets 0).Gateway}}', 'deedwire_default');
    const link = createLink();
    try {
      await expectDelivery({ lender: `${origin}/lenders/graphql`, partner: `${origin}/partners/graphql` }, accounts, {
        post,
        reach: async (callbackUrl) => {
          callbackUrl.port = String(await link.pass(Number(callbackUrl.port), 0, gateway));
          callbackUrl.hostname = gateway;
        },
      });
    } finally {
      await link.close();
    }

    const connections = await podman(
      'exec',
      containerOf('postgres'),
      'psql',
      '--username=postgres',
      '--tuples-only',
      '--no-align',
      "--command=select distinct usename, ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename like 'deedwire%' order by 1",
    );
    expect(connections.split('\n')).toEqual(servers.map((app) => `deedwire_${groupRole(app)}|t`).toSorted());

    const addressIn = '--format={{(index .NetworkSettings.Networks "deedwire_admin").IPAddress}}';
    const address = await podman('inspect', addressIn, containerOf('lender-api'));
    const admin = `:${firm.interfaces.lender.adminPort}/metrics`;
    expect(await reach('deedwire_admin', `lender-api${admin}`)).toBe('200');
    expect(await reach('deedwire_default', `lender-api${admin}`)).toBe('ECONNREFUSED');
    expect(await reach('deedwire_default', `${address}${admin}`)).toMatch(/UNREACH|TIMEDOUT|TIMEOUT/);
    await expect.poll(() => query('sum(up)')).toContain(`,"${servers.length}"]`);
    expect(await query('ALERTS')).not.toContain('DeedwireNotReady');
    const setWorkerLogin = (rights: string): Promise<string> =>
      podman(
        'exec',
        containerOf('postgres'),
        'psql',
        '--username=postgres',
        '--quiet',
        `--command=alter role deedwire_webhook_worker ${rights}`,
        "--command=select pg_terminate_backend(pid) from pg_stat_activity where usename = 'deedwire_webhook_worker'",
      );
    await setWorkerLogin('nologin');
    await expect.poll(() => query('ALERTS')).toMatch(/"alertname":"DeedwireNotReady","alertstate":"firing"/);
    await setWorkerLogin('login');
    await expect.poll(() => query('ALERTS')).not.toContain('DeedwireNotReady');

    const names = servers.map(containerOf);
    await podman('stop', '--time=30', ...names);
    for (const name of names) expect(await podman('inspect', '--format={{.State.ExitCode}}', name)).toBe('0');
  });
});
