/** `pnpm demo`: runs the whole flow in the terminal, in a temporary folder and on free ports, then removes everything. */
import { deepEqual, equal, match, ok as assert } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueCredential } from '@deedwire/actions';
import { deliveryHeaders, type InterfaceName, interfaceNames, names } from '@deedwire/domain';
import { startPostgres } from '@deedwire/embedded-postgres';
import { readConfig } from '@deedwire/service-runtime';
import { migrate } from '@deedwire/store';
import {
  type Credential,
  credentialHeaders,
  eventually,
  postGraphql,
  type ReceivedRequest,
  startReceiver,
} from '@deedwire/testing';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { parse, print as printDocument } from 'graphql';
import type { AppName } from './app-process.ts';
import { buildPortal } from './build-portal.ts';
import { callOperator } from './call-operator.ts';
import { parseOptions, UsageError } from './command-line.ts';
import { devConfig } from './dev-config.ts';
import { ensureOpenReferrals, seed, withSeedContext } from './seed.ts';
import { createAppLogins, interfaceUrls, startSystem, type System } from './start-system.ts';
import { fail, onReaderGone, print, readerGoneExitCode } from './terminal.ts';
import { packageManagerCommand } from './workspace.ts';

const command = `${packageManagerCommand} demo`;
const help = `Usage: ${command} [options]

Starts PostgreSQL, the apps and a receiver in a temporary folder and on
free ports, sends requests to the interfaces, delivers a webhook and retries
it, checks each step, and removes everything. Takes about ten seconds.

Options:
  --kill      kill the worker and an API while clients create referrals, start
              them again, and count what arrived; takes about half a minute
  -h, --help  print this help

The environment variable WEBHOOK_CALLBACK_POLICY is \`development\` by default.
`;
const next = (): string => `What to try next:
${isKill ? '' : `  ${command} --kill  kill the worker and an API meanwhile\n`}  ${packageManagerCommand} dev --receiver  keep it running, and print webhooks
  docs/quickstart.md  receive webhooks in your code
`;

const readReferral = 'query ($id: ID!) { referral(id: $id) { status matter { id reference } } }';
const readDelivery =
  'query ($id: ID!) { webhookDelivery(id: $id) { sequence status attempts { number responseStatus error } } }';
const createSubscription =
  'mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { webhookSubscription { id status } userErrors { code message } } }';

const createPortalLink =
  'mutation ($input: CreatePortalLinkInput!) { createPortalLink(input: $input) { portalLink { url expiresAt } userErrors { code message } } }';
const createReferral =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { message } } }';

const secret = generateWebhookSecret();
const clients = 8;
let isKill = false;
const undo: (() => Promise<unknown>)[] = [];
let [databaseUrl, referralId, matterId] = ['', '', ''];
/** Each client has a rate limit of its own. */
const credentials: Credential[] = [];
let accounts: Awaited<ReturnType<typeof seed>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let urls: Record<InterfaceName, string>;
let system: System;

type Steps = Record<string, () => Promise<unknown>>;

const start: Steps = {
  'Start PostgreSQL and migrate the database': async () => {
    const server = await startPostgres();
    undo.unshift(() => server.stop());
    databaseUrl = server.url;
    note(`${(await migrate(databaseUrl)).applied.length} migrations applied`);
  },
  'Create organizations, credentials and referrals': () =>
    withSeedContext(databaseUrl, names.gidNamespace, async (context) => {
      accounts = await seed(context);
      const { id: accountId } = accounts.partner;
      [referralId = ''] = await ensureOpenReferrals(context, accountId);
      while (isKill && credentials.length < clients)
        credentials.push(await issueCredential(context, { interfaceName: 'partner', accountId, clientId: null }));
      note(`lender ${accounts.lender.id}, partner ${accounts.partner.id}`);
    }),
  'Start the apps, each as a separate process': async () => {
    const policy = readConfig(devConfig.pick({ WEBHOOK_CALLBACK_POLICY: true }), process.env);
    const databaseUrls = await createAppLogins(databaseUrl);
    await buildPortal();
    system = await startSystem({ databaseUrls, portal: true, env: { GID_NAMESPACE: names.gidNamespace, ...policy } });
    undo.unshift(() => system.stop());
    urls = interfaceUrls(system);
    for (const { name, pid } of Object.values(system.apps)) note(`${name} is process ${pid}`);
  },
  'Start a sample receiver': async () => {
    receiver = await startReceiver({
      async onDelivery(response) {
        // So that requests are in flight when their sender is killed.
        if (isKill) await sleep(250);
        response.writeHead(!isKill && receiver.deliveries.length === 1 ? 503 : 204).end();
      },
    });
    undo.unshift(() => receiver.close());
    note(`${receiver.url} responds ${isKill ? 'after 250 ms' : '503 to its first event'}`);
  },
};

const flow: Steps = {
  'A lender reads its name and its team members': () =>
    send('lender', '{ lender { name members { id firstName } } }', {}, /^200 .*"name":"\w.*"members":\[\{"id":"gid:/),
  'The partner interface rejects credentials of a lender': () =>
    send('partner', '{ partner { name } }', {}, /^403 .*"code":"WRONG_INTERFACE"/, 'lender'),
  'A partner reads a referral': () => send('partner', readReferral, { id: referralId }, /^200 .*"status":"OPEN"/),
  'The partner registers a callback URL': () => subscribe('referral.converted'),
  'Each account creates a link to its portal': async () => {
    const input = { abilities: ['READ'], actor: 'demo' };
    for (const name of interfaceNames) await send(name, createPortalLink, { input }, /"url":"http:.*#link=/);
    note('these pages end with the demo; `dev` prints links that stay');
  },
  'An operator converts the referral into a matter': async () => {
    show(`→ deedwire-operator referral convert ${referralId} --json`, {}, '');
    const env = { DATABASE_URL: databaseUrl };
    const { stdout, stderr } = await callOperator(env, 'referral', 'convert', referralId, '--json');
    assert(stdout !== '', stderr);
    show('←', {}, stdout.trim());
    matterId = JSON.parse(stdout).matterId;
  },
  'The webhook arrives, and the receiver responds 503': async () => {
    const [first] = await receiver.waitFor(1);
    assert(first);
    const { type, version, data } = JSON.parse(showReceived(first, 503));
    deepEqual(
      [type, version, data.referralId, data.matterId],
      ['referral.converted', '2026-11-01', referralId, matterId],
    );
  },
  'The worker sends it again; the receiver responds 204': async () => {
    note('waiting for the retry, which is due after 5 to 6 s');
    const [first, retry] = await receiver.waitFor(2);
    assert(first && retry);
    const body = showReceived(retry, 204, first);
    deepEqual([body, retry.headers['webhook-id']], [first.body.toString(), first.headers['webhook-id']]);
    assert(retry.headers[deliveryHeaders.attempt.toLowerCase()] === '2', 'the request is the second attempt');
    assert(retry.atMs - first.atMs >= 5_000, 'the worker waited at least 5 s');
  },
  'The partner reads the delivery and both attempts': async () => {
    const variables = { id: String(receiver.deliveries[0]?.headers['webhook-id']) };
    // The worker records the attempt after the receiver has responded.
    await eventually(async () => {
      const { body } = await postGraphql(urls.partner, accounts.partner.credential, { query: readDelivery, variables });
      assert(!JSON.stringify(body).includes('"status":"PENDING"'), 'the attempt is recorded');
    }, 15_000);
    await send('partner', readDelivery, variables, /"DELIVERED".*"number":2,"responseStatus":204/);
  },
  'The partner reads the converted referral': () =>
    send('partner', readReferral, { id: referralId }, new RegExp(`"status":"CONVERTED","matter":{"id":"${matterId}"`)),
};

/** The referrals that the interface has accepted, by idempotency key. */
const accepted = new Map<string, string>();
let [isCreating, unanswered] = [true, 0];
let creating: Promise<unknown>;

const killing: Steps = {
  'The partner registers a callback URL': () => subscribe('referral.created'),
  [`${clients} clients create referrals until step 9`]: async () => {
    creating = Promise.all(credentials.map(createReferrals));
    // It is awaited once the processes are back.
    creating.catch(() => {});
    await receiver.waitFor(50);
    note(`accepted: ${accepted.size}, arrived: ${receiver.deliveries.length}`);
  },
  'SIGKILL ends the worker; a new process starts': async () => {
    const arrived = receiver.deliveries.length;
    await kill('webhook-worker');
    note('the lease of the killed process expires after 15 s; until then, referrals are accepted, and wait');
    await receiver.waitFor(arrived + 100);
    note(`accepted: ${accepted.size}, arrived: ${receiver.deliveries.length}`);
  },
  'SIGKILL ends the partner API; a new process starts': async () => {
    await kill('partner-api');
    const before = accepted.size;
    await eventually(() => assert(accepted.size > before + 50, 'the clients create referrals again'));
    note(`requests without a response: ${unanswered}, sent again with the same idempotency key`);
  },
  'Nothing is lost': async () => {
    isCreating = false;
    await creating;
    const ids = await eventually(() => {
      const arrived = new Set(
        receiver.deliveries.map(({ body }) => String(JSON.parse(body.toString()).data.referralId)),
      );
      deepEqual(arrived, new Set(accepted.values()), 'exactly the accepted referrals arrive');
      return arrived;
    });
    const repeated = receiver.deliveries.length - ids.size;
    equal(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size, ids.size);
    for (const { headers, body } of receiver.deliveries) verifyWebhook({ headers, body, secret });
    note(`accepted: ${accepted.size} referrals, ${ids.size} different ones`);
    note(`arrived: ${ids.size}, lost: 0`);
    note(`arrived more than once, with the same webhook-id: ${repeated}`);
  },
};

/** Creates referrals until `isCreating` is false. Sends each request until it is accepted. */
async function createReferrals(credential: Credential): Promise<void> {
  for (let number = 1; isCreating; number += 1) {
    const idempotencyKey = `${credential.clientId}-${number}`;
    const variables = { input: { clientName: 'Ada Fairbank', idempotencyKey } };
    await eventually(async () => {
      const { body } = await postGraphql(urls.partner, credential, { query: createReferral, variables }).catch(
        (error: unknown) => {
          unanswered += 1;
          throw error;
        },
      );
      const [, id] = /"id":"(\S+?)"/.exec(JSON.stringify(body)) ?? [];
      assert(id !== undefined, JSON.stringify(body));
      accepted.set(idempotencyKey, id);
    });
    await sleep(400);
  }
}

async function kill(app: AppName): Promise<void> {
  const { pid, kill: killApp, ended } = system.apps[app];
  killApp('SIGKILL');
  note(`process ${pid} ended: ${(await ended).signal}`);
  note(`${app} is process ${(await system.restart(app)).pid}`);
}

async function subscribe(type: string): Promise<void> {
  const input = { callbackUrl: receiver.url, eventTypes: [{ type, version: '2026-11-01' }], webhookSecret: secret };
  await send('partner', createSubscription, { input }, /"status":"ACTIVE".*"userErrors":\[\]/);
  const [handshake] = receiver.handshakes;
  assert(handshake, 'the callback URL receives the handshake before the mutation returns');
  showReceived(handshake, 200);
}

async function stopAll(): Promise<void> {
  for (const stop of undo.splice(0)) await stop();
}

/** Sends a request, and prints it and its response, whose status and body have to match. */
async function send(to: keyof typeof urls, query: string, variables: object, expected: RegExp, as = to): Promise<void> {
  const { credential } = accounts[as];
  const shown = credentialHeaders({ ...credential, apiKey: `${credential.apiKey.slice(0, 16)}…` });
  show(`→ POST ${urls[to]}`, shown, `${printDocument(parse(query))}\n${JSON.stringify(variables).replace(/^{}$/, '')}`);
  const { status, body } = await postGraphql(urls[to], credential, { query, variables });
  show(`← ${status}`, {}, JSON.stringify({ data: body.data, errors: body.errors }, null, 2));
  match(`${status} ${JSON.stringify(body)}`, expected);
}

/** Verifies a request and returns its body. Prints it; with an earlier attempt, only what differs from it. */
function showReceived(request: ReceivedRequest, status: number, earlier?: ReceivedRequest): string {
  const { headers, body } = request;
  const { timestamp } = verifyWebhook({ headers, body, secret });
  const shown = Object.entries(headers).filter(
    ([name, value]) => /^(?:x-|webhook-)/.test(name) && value !== earlier?.headers[name],
  );
  const text = body.toString();
  show(
    '← POST to the callback URL',
    Object.fromEntries(shown),
    earlier ? '' : JSON.stringify(JSON.parse(text), null, 2),
  );
  note(`the signature verifies, signed at ${timestamp.toISOString()}`);
  note(`→ the receiver responds ${status}`);
  return text;
}

function show(line: string, headers: object, body: string): void {
  const lines = [...Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`), ...body.split('\n')];
  print(`    ${line}\n${lines.map((each) => (each === '' ? '' : `      ${each}\n`)).join('')}`);
}

/** Prints prose in lines of at most 60 columns. */
function note(text: string, indent = '    '): void {
  const lines = text.match(/\S{56,}|.{1,56}(?=\s|$)/g) ?? [];
  print(lines.map((line, index) => `${index === 0 ? indent : '    '}${line.trim()}\n`).join(''));
}

async function demo(): Promise<void> {
  const steps: Steps = { ...start, ...(isKill ? killing : flow), 'Stop everything': stopAll };
  for (const [index, [title, run]] of Object.entries(steps).entries()) {
    print('\n');
    note(title, `${String(index + 1).padStart(2)}  `);
    try {
      await run();
    } catch (error) {
      await stopAll().catch(() => {});
      const reason = `Step ${index + 1}  ${title}\n    ${error instanceof Error ? error.message : String(error)}`;
      return fail(`\nNOT AS SPECIFIED. ${reason}\n\nThe demo has stopped everything that it started.`, 1);
    }
  }
  print(`\nEvery step behaved as specified. The demo took ${(performance.now() / 1000).toFixed(1)} s.\n\n${next()}`);
}

// Every process that the demo started ends with this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
onReaderGone(() => process.exit(readerGoneExitCode));
try {
  const flag = { type: 'boolean', default: false } as const;
  const options = parseOptions(command, { kill: flag, help: { ...flag, short: 'h' } }, process.argv.slice(2));
  isKill = options.kill;
  if (options.help) print(help);
  else await demo();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  fail(error.message, 2);
}
