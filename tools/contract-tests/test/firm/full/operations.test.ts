import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { appOf } from '@deedwire/core';
import { createTestDatabase, findFreePort, type TestDatabase, withClient } from '@deedwire/embedded-postgres';
import { firm, interfaceNames } from '@deedwire/firm';
import { groupRolesOf } from '@deedwire/store';
import { commandsOf, compileCache, findProgram, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// The commands of docs/operations on one machine with systemd, in one shell. Only paths, ports, URLs, names of roles and what stands in
// angle brackets are replaced by those of this test, `node` runs the sources of the app that a command names, and `systemctl` starts and
// stops what the units name, without their sandbox.

const read = (page: string): Promise<string> => readFile(join(workspaceRoot, 'docs/operations', page), 'utf8');
const install = await read('install-systemd.md');
const [makeCommands = '', createDatabase = ''] = commandsOf(install, 'Create the database and the secrets', 2);
const [start = '', check = ''] = commandsOf(install, 'Start the servers', 2);
const [makeSecret = '', useIt = ''] = commandsOf(install, 'Send the first webhook', 2);
const [stop = ''] = commandsOf(install, 'Stop', 1);
const [, upgrade = ''] = commandsOf(await read('upgrade.md'), 'With systemd', 3);
const [, , goBack = ''] = commandsOf(await read('upgrade.md'), 'Go back with systemd', 4);
const [protectDatabase = ''] = commandsOf(await read('database.md'), 'Database', 1);
const [takeLoginAway = ''] = commandsOf(await read('runbooks.md'), 'A login was stolen', 1);
const [setLimit = ''] = commandsOf(await read('accounts.md'), 'Rate limits', 1);
const [listeners = ''] = commandsOf(await read('accounts.md'), 'Listeners', 1);
const [claim = ''] = commandsOf(await read('keys-and-audit.md'), 'Audit log', 1);
const [exportAudit = ''] = commandsOf(await read('keys-and-audit.md'), 'Exports of the audit log', 1);
const [startPrometheus = '', seeAlert = ''] = commandsOf(await read('alerts.md'), 'Set up', 2);

const programs = ['psql', 'curl', 'openssl', 'prometheus', 'promtool'];
const missing = programs.filter((name) => findProgram(name) === undefined);
const isSkipped = missing.length > 0 && process.env['CI'] !== 'true';

let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let replaced: [string | RegExp, string][];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deedwire-first-start-'));
  database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  receiver = await startReceiver();
  const ports = { lender: await findFreePort(), partner: await findFreePort() };
  const adminPorts = { lender: await findFreePort(), partner: await findFreePort(), worker: await findFreePort() };
  const prometheusPort = await findFreePort();
  for (const name of ['bin', 'units', 'shipped', 'prometheus']) await mkdir(join(folder, name));
  await writeFile(
    join(folder, 'bin/node'),
    `#!/bin/sh
while [ "\${1#--}" != "$1" ]; do shift; done
app=$(basename "$(dirname "$(dirname "$1")")")
shift
export NODE_ENV=development WEBHOOK_CALLBACK_POLICY=development DATABASE_TIMEOUT_MS=20000 WORKER_UNREADY_AFTER_MS=1000
case $app in
  lender-api) export PORT=${ports.lender} ADMIN_PORT=${adminPorts.lender} ;;
  partner-api) export PORT=${ports.partner} ADMIN_PORT=${adminPorts.partner} ;;
  webhook-worker) export ADMIN_PORT=${adminPorts.worker} ;;
esac
exec ${process.execPath} --conditions=deedwire-source ${workspaceRoot}/apps/$app/src/main.ts "$@"
`,
  );
  await writeFile(
    join(folder, 'bin/systemctl'),
    `#!/bin/sh
set -e
cd ${folder}
run() {
  if [ "$1" = prometheus ]; then
    command="prometheus --config.file=prometheus/prometheus.yml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:${prometheusPort}"
  else
    command=$(sed -n 's/^ExecStart=//p' "units/$1.service")
    export DATABASE_URL_FILE=$(sed -n 's/^LoadCredential=database-url://p' "units/$1.service")
    export WEBHOOK_SECRET_KEYS_FILE=$(sed -n 's/^LoadCredential=webhook-secret-keys://p' "units/$1.service")
  fi
  nohup $command >> "$1.log" 2>&1 &
  echo $! > "$1.pid"
}
end() {
  [ -e "$1.pid" ] || return 0
  kill "$(cat "$1.pid")"
  tail --pid="$(cat "$1.pid")" --follow /dev/null
  rm "$1.pid"
}
case $1 in
  daemon-reload) ;;
  enable) run "$3" ;;
  disable) end "$3" ;;
  restart) end "$2"; run "$2" ;;
  *) exit 2 ;;
esac
`,
  );
  for (const name of ['node', 'systemctl']) await chmod(join(folder, 'bin', name), 0o755);
  for (const unit of globSync('deploy/systemd/*.service', { cwd: workspaceRoot })) {
    const text = await readFile(join(workspaceRoot, unit), 'utf8');
    await writeFile(
      join(folder, 'shipped', basename(unit)),
      text.replaceAll('/opt/deedwire/current/bin/', `${folder}/bin/`).replaceAll('/etc/deedwire', `${folder}/etc`),
    );
  }
  // The alerts wait for minutes.
  const rules = await readFile(join(workspaceRoot, 'deploy/prometheus/rules.yml'), 'utf8');
  await writeFile(join(folder, 'rules.yml'), rules.replaceAll(/for: \d+m/g, 'for: 1s'));
  const name = new URL(database.databaseUrl).pathname.slice(1);
  replaced = [
    ['postgres://postgres@127.0.0.1/deedwire', database.databaseUrl],
    ['postgres://postgres@127.0.0.1/postgres', serverUrl().href],
    // The test has created it, with its own name.
    ['--command="create database deedwire ', `--command="drop database ${name}" --command="create database ${name} `],
    ['https://receiver.example.com/hooks', receiver.url],
    ['/usr/local/bin/', `${folder}/bin/`],
    ['/opt/deedwire/current/bin/', `${folder}/bin/`],
    ['/etc/deedwire', `${folder}/etc`],
    ['/etc/systemd/system/', `${folder}/units/`],
    ['/etc/prometheus/', `${folder}/prometheus/`],
    ['deploy/systemd/*.service', `${folder}/shipped/*.service`],
    ['deploy/prometheus/rules.yml', `${folder}/rules.yml`],
    ['interval: 15s', 'interval: 1s'],
    ['127.0.0.1:9090', `127.0.0.1:${prometheusPort}`],
    [/\b4101\b/g, String(adminPorts.lender)],
    [/\b4102\b/g, String(adminPorts.partner)],
    [/\b4003\b/g, String(adminPorts.worker)],
    ['127.0.0.1:4002', `127.0.0.1:${ports.partner}`],
    ['on database deedwire', `on database ${name}`],
    [/\bdeedwire_(?=lender_api|partner_api|webhook_worker|operator\b)/g, `${name}_`],
    ['<clientId>', '"$client"'],
    ['<gid of the listener>', '"$listener"'],
    [/<gid(?: of the account)?>/g, '"$partner"'],
  ];
});

afterAll(async () => {
  const name = new URL(database.databaseUrl).pathname.slice(1);
  await database.drop();
  const roles = groupRolesOf(firm).map((role) => `"${name}_${role}"`);
  await withClient(serverUrl().href, (client) => client.query(`drop role if exists ${roles.join(', ')}`));
  await receiver.close();
  await rm(folder, { recursive: true });
});

/** The database in which others are created. */
function serverUrl(): URL {
  const url = new URL(database.databaseUrl);
  url.pathname = '/postgres';
  return url;
}

/** As psql runs it with the login of the owner. */
const sql = (statements: string): string =>
  `psql postgres://postgres@127.0.0.1/deedwire --no-psqlrc --quiet --set=ON_ERROR_STOP=1 <<'SQL'\n${statements}\nSQL\n`;

const untilDelivered = `
for _ in $(seq 60); do deedwire-operator delivery list --account "$partner" | grep DELIVERED && break; sleep 0.2; done
`;

const createListener = `
client=$(sed -n 's/^X-Service-Client-Id: //p' partner.headers)
listener=$(curl --silent --fail --header @partner.headers --header 'Content-Type: application/json' --data '{"query":
  "mutation { createWebhookListener(input: { eventTypes: [{ type: \\"referral.created\\" }] }) { listener: webhookListener { id } } }"}' \
  http://127.0.0.1:4002/partners/graphql | grep --only-matching 'gid://[^"]*')
`;

// Guards against hanging only. A busy machine takes minutes.
const timeout = 900_000;

test.skipIf(isSkipped)(
  'the commands of the page run as they stand, from an empty database to an alert',
  async () => {
    const steps = [
      makeCommands,
      createDatabase,
      // Each block can be repeated.
      createDatabase,
      start,
      check,
      makeSecret,
      useIt,
      untilDelivered,
      sql(protectDatabase),
      createListener,
      setLimit,
      listeners,
      sql(`${claim}select 1;`),
      exportAudit,
      startPrometheus,
      seeAlert,
      upgrade,
      goBack,
      sql(takeLoginAway),
      stop,
    ];
    let script = steps.join('');
    for (const [from, to] of replaced) {
      const changed = script.replaceAll(from, to);
      if (changed === script) throw new Error(`The page does not contain ${String(from)}.`);
      script = changed;
    }
    await writeFile(
      join(folder, 'steps.sh'),
      `set -e\ncd ${folder}\ntrap 'for file in *.pid; do kill $(cat $file); tail --pid=$(cat $file) --follow /dev/null; done' EXIT\n${script}`,
    );
    const child = execFile('bash', [join(folder, 'steps.sh')], {
      env: { PATH: `${folder}/bin:${process.env['PATH']}`, HOME: folder, ...compileCache },
      timeout,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: string) => (output += text));
    const [exitCode] = await once(child, 'close');
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });

    expect(output).toContain('Applied 0110-baseline\n');
    expect(output).toContain('{"ready":true,"problems":[]} webhook-worker\n');
    expect(output).toMatch(/"webhookSubscription":\{"id":"[^"]+"\},"userErrors":\[\]/);
    expect(output).toContain('DELIVERED');
    expect(output).toContain('ALERTS{alertname="DeedwireNotReady", alertstate="firing"');
    expect(output).toContain('Nothing to apply\n');
    expect(output).toContain('to 5000 points, restored at 500 per second');
    expect(output).toMatch(/^\d+ entries, lines 1 to \d+, /m);
    expect(receiver.handshakes).toHaveLength(1);
    expect(receiver.deliveries.map(({ headers }) => headers['x-service-webhook-event'])).toEqual(['referral.created']);
    for (const app of [...interfaceNames.map(appOf), 'webhook-worker']) {
      expect(await readFile(join(folder, `deedwire-${app}.log`), 'utf8')).toContain('"msg":"listening"');
    }
  },
  timeout,
);
