import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { createReferralForPartner, declineReferral } from '@deedwire/actions';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { credentialHeaders } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { prepareDatabase, type PreparedDatabase } from '../support/database.ts';

// A version of an interface and one of an event are added to a copy of this tree, and older ones are retired from it, by
// what CONTRIBUTING.md says: new files, deleted files, and a line where versions are listed.

const root = join(import.meta.dirname, '../../../..');
const copy = mkdtempSync(join(tmpdir(), 'deedwire-scratch-'));
const run = promisify(execFile);
const SCRATCH = '2099-01-01';

let database: PreparedDatabase;

beforeAll(async () => {
  await copyTree();
  database = await prepareDatabase();
});

afterAll(async () => {
  await database.close();
  rmSync(copy, { recursive: true, force: true });
});

/** The files that git knows or would, with the installed packages: ours lead into the copy, the others to where they are. */
async function copyTree(): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, maxBuffer: 1e8 });
  const files = stdout.trim().split('\n');
  for (const file of files) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const manifests = files.filter((file) => /^(?:apps|packages)\/[^/]+\/package\.json$/.test(file));
  for (const folder of manifests.map((file) => dirname(file))) {
    const from = join(root, folder, 'node_modules');
    if (!existsSync(from)) continue;
    cpSync(from, join(copy, folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  }
}

function edit(file: string, ...replacements: [from: string | RegExp, to: string][]): void {
  let text = readFileSync(join(copy, file), 'utf8');
  for (const [from, to] of replacements) {
    const edited = text.replace(from, to);
    if (edited === text) throw new Error(`${file} holds no ${from}.`);
    text = edited;
  }
  writeFileSync(join(copy, file), text);
}

function derive(from: string, to: string, ...replacements: [from: string | RegExp, to: string][]): void {
  cpSync(join(copy, from), join(copy, to));
  edit(to, ...replacements);
}

const remove = (file: string): void => rmSync(join(copy, file));

/** Generates what the two contract packages publish, and checks the types of the apps that serve them. */
async function build(): Promise<void> {
  const schema = join(copy, 'packages/partner-schema');
  await run('node_modules/.bin/graphql-codegen', ['--config', '../../scripts/schema-codegen.ts'], { cwd: schema });
  await run(process.execPath, ['generate.ts'], { cwd: join(copy, 'packages/webhook-events') });
  for (const app of ['partner-api', 'webhook-worker']) {
    await run('node_modules/.bin/tsc', ['-p', `apps/${app}/tsconfig.json`, '--rootDir', '.', '--noEmit'], {
      cwd: copy,
    });
  }
}

interface ScratchSystem {
  partnerUrl: string;
  stop(): Promise<void>;
}

async function startApps(): Promise<ScratchSystem> {
  const apps = [
    await startApp('partner-api', await database.urlFor('partner_api')),
    await startApp('webhook-worker', await database.urlFor('webhook_worker')),
  ];
  return {
    partnerUrl: `${apps[0]?.url}/partners/graphql`,
    async stop() {
      await Promise.all(apps.map((app) => app.stop()));
    },
  };
}

async function startApp(name: string, databaseUrl: string): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, ['--conditions=deedwire-source', `apps/${name}/src/main.ts`], {
    cwd: copy,
    env: {
      // oxlint-disable-next-line node/no-process-env -- what the app inherits
      ...process.env,
      PORT: '0',
      HOST: '127.0.0.1',
      SHUTDOWN_DELAY_MS: '0',
      DATABASE_URL: databaseUrl,
      WEBHOOK_CALLBACK_POLICY: 'development',
      WEBHOOK_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readUrl(child);
  const endMs = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`${url}/ready`);
    if (response.ok) break;
    if (performance.now() > endMs) throw new Error(`${name} is not ready: ${await response.text()}`);
    await sleep(50);
  }
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('The app has no output.');
  for await (const line of createInterface({ input: child.stdout })) {
    const record: { msg?: string; url?: string } = JSON.parse(line);
    if (record.msg === 'listening' && record.url !== undefined) {
      child.stdout.resume();
      return record.url;
    }
  }
  throw new Error('The app ended before it listened.');
}

interface Answer {
  status: number;
  data?: Record<string, unknown>;
  errors?: { extensions: Record<string, unknown> }[];
}

async function send(url: string, version: string | null, query: string, variables: object = {}): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...credentialHeaders(database.accounts.partner.credential),
      ...(version !== null && { 'X-Service-Schema-Version': version }),
    },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, ...(await response.json()) };
}

const SUBSCRIBE = `mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) { webhookSubscription { id } userErrors { code } }
}`;

async function subscribe(url: string, callbackUrl: string, version: string): Promise<unknown> {
  const input = { callbackUrl, eventTypes: [{ type: 'referral.declined', version }] };
  const { data } = await send(url, SCRATCH, SUBSCRIBE, { input });
  return data?.['createWebhookSubscription'];
}

async function decline(): Promise<void> {
  const details = { clientName: 'Ada', clientEmail: null, externalReference: null, note: null };
  const partnerId = database.accounts.partner.id;
  const { id: referralId } = await createReferralForPartner(database.operator, { ...details, partnerId });
  await declineReferral(database.operator, { referralId, reason: 'Outside of our area.' });
}

test('adding a version is a file for each thing that differs, and a line', { timeout: 240_000 }, async () => {
  const sdl = 'packages/partner-schema/versions';
  derive(`${sdl}/2026-11-01.graphql`, `${sdl}/${SCRATCH}.graphql`, [
    /(type Partner \{[^}]*)\n  name: String!/,
    '$1\n  title: String!',
  ]);
  cpSync(join(copy, sdl, '2026-11-01.manifest.json'), join(copy, sdl, `${SCRATCH}.manifest.json`));
  edit('packages/partner-schema/versions.json', [
    /\n\}\s*$/,
    `,\n  "${SCRATCH}": { "status": "preview", "deprecatedOn": null, "sunsetOn": null }\n}\n`,
  ]);
  derive(
    'apps/partner-api/src/versions/2026-11-01.ts',
    `apps/partner-api/src/versions/${SCRATCH}.ts`,
    ['schema20261101', 'schema20990101'],
    [
      "import { addPartner } from '../schema/partner.ts';\n",
      "import { type Partner, readPartner } from '@deedwire/actions';\n",
    ],
    [
      '  addPartner(builder);\n',
      `
  const PartnerType = builder.objectRef<Partner>('Partner').implement({
    fields: (t) => ({ id: t.exposeID('id'), title: t.exposeString('name') }),
  });
  builder.queryField('partner', (t) =>
    t.field({ type: PartnerType, resolve: (_, _args, { actions, caller }) => readPartner(actions, caller) }),
  );
`,
    ],
  );
  edit(
    'apps/partner-api/src/partner-interface.ts',
    [
      'import { schema20261101 }',
      `import { schema20990101 } from './versions/${SCRATCH}.ts';\nimport { schema20261101 }`,
    ],
    ["['2026-11-01', schema20261101()]", `['2026-11-01', schema20261101()], ['${SCRATCH}', schema20990101()]`],
  );

  const events = 'packages/webhook-events/src';
  derive(
    `${events}/referral.declined/2026-11-01.ts`,
    `${events}/referral.declined/${SCRATCH}.ts`,
    ["z.literal('2026-11-01')", `z.literal('${SCRATCH}')`],
    ['        reason:', '        because:'],
  );
  edit(
    `${events}/event-types.ts`,
    [
      'import { body as referralDeclined20261101 }',
      `import { body as referralDeclined20990101 } from './referral.declined/${SCRATCH}.ts';\nimport { body as referralDeclined20261101 }`,
    ],
    [
      "current('2026-11-01', referralDeclined20261101)",
      `current('2026-11-01', referralDeclined20261101), preview('${SCRATCH}', referralDeclined20990101)`,
    ],
  );
  const rendering = 'apps/webhook-worker/src/rendering';
  derive(
    `${rendering}/referral.declined/2026-11-01.ts`,
    `${rendering}/referral.declined/${SCRATCH}.ts`,
    [/\breason \}/g, 'because: reason }'],
    ['declinedAt, because: reason }:', 'declinedAt, reason }:'],
  );
  edit(
    `${rendering}/renderers.ts`,
    [
      'import * as referralDeclined20261101',
      `import * as referralDeclined20990101 from './referral.declined/${SCRATCH}.ts';\nimport * as referralDeclined20261101`,
    ],
    [
      "'2026-11-01': referralDeclined20261101.render",
      `'2026-11-01': referralDeclined20261101.render, '${SCRATCH}': referralDeclined20990101.render`,
    ],
  );
  await build();

  const system = await startApps();
  const [older, newer] = [await startReceiver(), await startReceiver()];
  try {
    const name = 'Keystone Estate Agents';
    expect(await send(system.partnerUrl, SCRATCH, '{ partner { title } }')).toEqual({
      status: 200,
      data: { partner: { title: name } },
    });
    expect(await send(system.partnerUrl, null, '{ partner { name } }')).toEqual({
      status: 200,
      data: { partner: { name } },
    });
    expect(await subscribe(system.partnerUrl, older.url, '2026-11-01')).toMatchObject({ userErrors: [] });
    expect(await subscribe(system.partnerUrl, newer.url, SCRATCH)).toMatchObject({ userErrors: [] });
    await decline();
    const [[before], [after]] = [await older.waitFor(1), await newer.waitFor(1)];
    expect(JSON.parse(String(before?.body))).toMatchObject({
      version: '2026-11-01',
      data: { reason: 'Outside of our area.' },
    });
    expect(JSON.parse(String(after?.body))).toMatchObject({
      version: SCRATCH,
      data: { because: 'Outside of our area.' },
    });
  } finally {
    await system.stop();
    await Promise.all([older.close(), newer.close()]);
  }
});

test('retiring a version is deleting its files and its line', { timeout: 240_000 }, async () => {
  for (const file of ['2026-11-01.graphql', '2026-11-01.manifest.json'])
    remove(`packages/partner-schema/versions/${file}`);
  edit('packages/partner-schema/versions.json', [/ {2}"2026-11-01": [^\n]*,\n/, '']);
  remove('apps/partner-api/src/versions/2026-11-01.ts');
  edit(
    'apps/partner-api/src/partner-interface.ts',
    [/import \{ schema20261101 \}[^\n]*\n/, ''],
    [/\['2026-11-01', schema20261101\(\)\],\s*/, ''],
  );
  remove('packages/webhook-events/src/referral.declined/2026-11-01.ts');
  edit(
    'packages/webhook-events/src/event-types.ts',
    [/import \{ body as referralDeclined20261101 \}[^\n]*\n/, ''],
    [/current\('2026-11-01', referralDeclined20261101\), preview/, 'current'],
  );
  remove('apps/webhook-worker/src/rendering/referral.declined/2026-11-01.ts');
  edit(
    'apps/webhook-worker/src/rendering/renderers.ts',
    [/import \* as referralDeclined20261101[^\n]*\n/, ''],
    [/'2026-11-01': referralDeclined20261101\.render,\s*/, ''],
  );
  await build();

  const system = await startApps();
  const receiver = await startReceiver();
  try {
    expect(await send(system.partnerUrl, SCRATCH, '{ partner { title } }')).toMatchObject({ status: 200 });
    // Neither the header nor the pin is ever served by another version.
    for (const version of ['2026-11-01', null]) {
      expect(await send(system.partnerUrl, version, '{ partner { name } }')).toMatchObject({
        status: 400,
        errors: [{ extensions: { code: 'UNSUPPORTED_SCHEMA_VERSION', supportedVersions: [SCRATCH] } }],
      });
    }
    expect(await subscribe(system.partnerUrl, receiver.url, '2026-11-01')).toMatchObject({
      userErrors: [{ code: 'EVENT_VERSION_UNKNOWN' }],
    });
  } finally {
    await system.stop();
    await receiver.close();
  }
});
