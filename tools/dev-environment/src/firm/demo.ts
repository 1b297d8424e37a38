/** `pnpm demo`, of the law firm: runs the whole flow in the terminal, in a temporary folder and on free ports, then removes everything. */
import { deepEqual, match, ok as assert } from 'node:assert/strict';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryHeaders } from '@deedwire/core';
import { fail, onOutputLost, print, withSeedContext } from '@deedwire/development';
import { startPostgres } from '@deedwire/embedded-postgres';
import { firm, type InterfaceName, interfaceNames } from '@deedwire/firm';
import { readConfig } from '@deedwire/service-runtime';
import { migrate } from '@deedwire/store';
import { credentialHeaders, eventually, postGraphql, type ReceivedRequest, startReceiver } from '@deedwire/testing';
import { generateWebhookSecret, verifyWebhook } from '@deedwire/webhook-signing';
import { parse, print as printDocument } from 'graphql';
import { buildPortal } from '../build-portal.ts';
import { UsageError } from '../command-line.ts';
import { devConfigOf } from '../dev-config.ts';
import { note, printMessage } from '../terminal.ts';
import { killSteps, type Steps } from './demo-kill.ts';
import { demoHelp, type DemoOptions, nextCommands, parseDemoOptions } from './demo-options.ts';
import { ensureOpenReferrals, seed } from './seed.ts';
import { callOperator, createAppLogins, interfaceUrls, startSystem, type System } from './system.ts';

const readTeam = '{ lender { name members { id firstName } } }';
const readReferral = 'query ($id: ID!) { referral(id: $id) { status matter { id reference } } }';
const readDelivery =
  'query ($id: ID!) { webhookDelivery(id: $id) { sequence status attempts { number responseStatus error } } }';
const createSubscription =
  'mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { webhookSubscription { id status } userErrors { code message } } }';
const createLink =
  'mutation ($input: CreatePortalLinkInput!) { createPortalLink(input: $input) { portalLink { url expiresAt } userErrors { code message } } }';

const secret = generateWebhookSecret();
const eventTypes = ['referral.converted', 'referral.created'].map((type) => ({ type, version: '2026-11-01' }));
const undo: (() => Promise<unknown>)[] = [];
let [databaseUrl, referralId, matterId] = ['', '', ''];
let accounts: Awaited<ReturnType<typeof seed>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let urls: Record<InterfaceName, string>;
let system: System;

const flow: Steps = {
  'Start PostgreSQL and migrate the database': async () => {
    const server = await startPostgres();
    undo.unshift(() => server.stop());
    databaseUrl = server.url;
    note(`${(await migrate(databaseUrl, firm, { organization: null })).applied.length} migrations applied`);
  },
  'Create organizations, credentials and referrals': () =>
    withSeedContext(firm, { databaseUrl, gidNamespace: firm.names.gidNamespace }, async (context) => {
      accounts = await seed(context);
      [referralId = ''] = await ensureOpenReferrals(context, accounts.partner.id);
      note(`lender ${accounts.lender.id}, partner ${accounts.partner.id}`);
    }),
  'Start the apps, each as a separate process': async () => {
    const policy = readConfig(devConfigOf(firm).pick({ WEBHOOK_CALLBACK_POLICY: true }), process.env);
    const databaseUrls = await createAppLogins(databaseUrl);
    await buildPortal();
    system = await startSystem({
      databaseUrls,
      portal: true,
      env: { GID_NAMESPACE: firm.names.gidNamespace, ...policy },
    });
    undo.unshift(() => system.stop());
    urls = interfaceUrls(system);
    for (const { name, pid } of Object.values(system.apps)) note(`${name} is process ${pid}`);
  },
  'Start a sample receiver': async () => {
    receiver = await startReceiver({
      async onDelivery(response) {
        // So that requests are in flight when `--kill` ends their sender.
        await sleep(100);
        response.writeHead(receiver.deliveries.length === 1 ? 503 : 204).end();
      },
    });
    undo.unshift(() => receiver.close());
    note(`${receiver.url} responds 503 to its first event`);
  },
  'A lender reads its name and its team members': () =>
    send('lender', readTeam, {}, /^200 .*"name":"\w.*"members":\[\{"id":"gid:/),
  'The partner interface rejects credentials of a lender': () =>
    send('partner', '{ partner { name } }', {}, /^403 .*"code":"WRONG_INTERFACE"/, 'lender'),
  'A partner reads a referral': () => send('partner', readReferral, { id: referralId }, /^200 .*"status":"OPEN"/),
  'The partner registers a callback URL': async () => {
    const input = { callbackUrl: receiver.url, eventTypes, webhookSecret: secret };
    await send('partner', createSubscription, { input }, /"status":"ACTIVE".*"userErrors":\[\]/);
    const [handshake] = receiver.handshakes;
    assert(handshake, 'the callback URL receives the handshake before the mutation returns');
    showReceived(handshake, 200);
  },
  'Each account creates a link to its portal': async () => {
    const input = { abilities: ['READ'], actor: 'demo' };
    for (const name of interfaceNames) await send(name, createLink, { input }, /"url":"http:.*#link=/);
    note('these pages end with the demo; `dev` prints links that stay');
  },
  'An operator converts the referral into a matter': async () => {
    printMessage(`→ deedwire-operator referral convert ${referralId} --json`);
    const env = { DATABASE_URL: databaseUrl };
    const { stdout, stderr } = await callOperator(env, 'referral', 'convert', referralId, '--json');
    assert(stdout !== '', stderr);
    printMessage('←', {}, stdout.trim());
    matterId = JSON.parse(stdout).matterId;
  },
  'The webhook arrives, and the receiver responds 503': async () => {
    const [first] = await receiver.waitFor(1);
    assert(first);
    const { type, version, data } = JSON.parse(showReceived(first, 503));
    deepEqual([{ type, version }, data.referralId, data.matterId], [eventTypes[0], referralId, matterId]);
  },
  'The worker sends it again; the receiver responds 204': async () => {
    note('waiting for the retry, which is due after 5 to 6 s');
    const [first, retry] = await receiver.waitFor(2);
    assert(first && retry);
    const body = showReceived(retry, 204, first);
    deepEqual([body, retry.headers['webhook-id']], [first.body.toString(), first.headers['webhook-id']]);
    assert(retry.headers[deliveryHeaders(firm).attempt.toLowerCase()] === '2', 'the request is the second attempt');
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

/** Sends a request, and prints it and its response, whose status and body have to match. */
async function send(to: InterfaceName, query: string, variables: object, expected: RegExp, as = to): Promise<void> {
  const { credential } = accounts[as];
  const shown = credentialHeaders({ ...credential, apiKey: `${credential.apiKey.slice(0, 16)}…` });
  printMessage(
    `→ POST ${urls[to]}`,
    shown,
    `${printDocument(parse(query))}\n${JSON.stringify(variables).replace(/^{}$/, '')}`,
  );
  const { status, body } = await postGraphql(urls[to], credential, { query, variables });
  printMessage(`← ${status}`, {}, JSON.stringify({ data: body.data, errors: body.errors }, null, 2));
  match(`${status} ${JSON.stringify(body)}`, expected);
}

/** Verifies a request and returns its body. Prints it; with an earlier attempt, only what differs from it. */
function showReceived({ headers, body }: ReceivedRequest, status: number, earlier?: ReceivedRequest): string {
  const { timestamp } = verifyWebhook({ prefix: 'X-Service', headers, body, secret });
  const shown = Object.entries(headers).filter(
    ([name, value]) => /^(?:x-|webhook-)/.test(name) && value !== earlier?.headers[name],
  );
  const text = body.toString();
  const shownBody = earlier ? '' : JSON.stringify(JSON.parse(text), null, 2);
  printMessage('← POST to the callback URL', Object.fromEntries(shown), shownBody);
  note(`the signature verifies, signed at ${timestamp.toISOString()}`);
  note(`→ the receiver responds ${status}`);
  return text;
}

async function stopAll(): Promise<void> {
  for (const stop of undo.splice(0)) await stop();
}

let number = 0;

async function run(steps: Steps): Promise<void> {
  for (const [title, step] of Object.entries(steps)) {
    number += 1;
    print('\n');
    note(title, `${String(number).padStart(2)}  `);
    try {
      await step();
    } catch (cause) {
      await stopAll().catch(() => {});
      const reason = `Step ${number}  ${title}\n    ${cause instanceof Error ? cause.message : String(cause)}`;
      const end = 'The demo has stopped everything that it started.';
      throw new Error(`\nNOT AS SPECIFIED. ${reason}\n\n${end}`, { cause });
    }
  }
}

async function demo(options: DemoOptions): Promise<void> {
  await run(flow);
  const { credential } = accounts.partner;
  if (options.kill) await run(killSteps({ system, receiver, secret, url: urls.partner, credential }));
  await run({ 'Stop everything': stopAll });
  const seconds = (performance.now() / 1000).toFixed(1);
  print(`\nEvery step behaved as specified. The demo took ${seconds} s.\n\n${nextCommands(options)}`);
}

// Every process that the demo started ends with this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
onOutputLost((exitCode) => process.exit(exitCode));
try {
  const options = parseDemoOptions(process.argv.slice(2));
  if (options.help) print(demoHelp);
  else await demo(options);
} catch (error) {
  fail(error instanceof Error ? error.message : String(error), error instanceof UsageError ? 2 : 1);
}
