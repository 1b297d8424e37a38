import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { joinSharedSystem } from '@deedwire/dev-environment/harness';
import { compileCache, eventually, listen, missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import * as events from '@deedwire/webhook-contract';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { memoryStore } from '@deedwire/webhook-receiver/memory';
import { graphqlPull } from '@deedwire/webhook-receiver/pull';
import { buildASTSchema, parse, validate, visit } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { createInterfaceClient } from './support/interface-client.ts';
import { contracts } from './support/interface-contracts.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { workspaceRoot } from './support/workspace-copy.ts';

/*
 * A receiver is older or newer than the interface that it reads. Earlier releases have no `eventId` of an event, and later versions no
 * `id`, so the kit selects neither.
 */

const system = await forFile(joinSharedSystem());
const { credential } = system.accounts.customer;
const { mutate, request } = createInterfaceClient(system, 'customer', '2026-11-01');

const typesOfEvents = ['WebhookEvent', 'WebhookDeliveryEvent'];
const schema = buildASTSchema(
  visit(parse(contracts.customer.sdl('2026-11-01')), {
    ObjectTypeDefinition: (type) =>
      typesOfEvents.includes(type.name.value)
        ? { ...type, fields: type.fields?.filter(({ name }) => !['id', 'eventId'].includes(name.value)) ?? [] }
        : undefined,
  }),
);

/** Responds as the customer interface, but refuses the documents that are not valid for `schema`. */
async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(incoming);
  const [error] = validate(schema, parse(JSON.parse(body).query));
  const headers = new Headers({ 'Content-Type': 'application/json' });
  if (error !== undefined) {
    const refused = { message: error.message, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } };
    response.writeHead(400, Object.fromEntries(headers)).end(JSON.stringify({ errors: [refused] }));
    return;
  }
  for (const [name, value] of Object.entries(incoming.headers))
    if (name.startsWith('x-service-')) headers.set(name, String(value));
  const answer = await fetch(system.urls.customer, { method: 'POST', headers, body });
  response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
}

const { port } = await forFile(listen(createServer((incoming, response) => void respond(incoming, response))));
const url = `http://127.0.0.1:${port}/`;

test('a receiver pulls events', async () => {
  const eventTypes = [{ type: 'webhook.test' }];
  const { webhookListener } = await mutate<{ webhookListener: { id: string } | null }>(
    'createWebhookListener',
    'webhookListener { id }',
    { eventTypes },
  );
  const { id: subscriptionId } = webhookListener ?? missing();
  await mutate('sendTestWebhookEvent', 'webhookEventId', { subscriptionId });
  const handled: unknown[] = [];
  const receiver = createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [],
    awaitingSecret: true,
    store: memoryStore(),
    on: { 'webhook.test': { '2026-11-01': (_event, { id }) => void handled.push(id) } },
  });
  const query = 'query ($id: ID!) { webhookEvents(subscriptionId: $id) { lastSequence } }';
  await eventually(async () => expect(await request(query, { id: subscriptionId })).toEqual({ lastSequence: 1 }));
  await receiver.reconcile(graphqlPull({ prefix: 'X-Service', url, credentials: credential, subscriptionId }));
  expect(handled).toHaveLength(1);
});

test('the command sends the events of a listener', async () => {
  const { path: state } = await forFile(temporaryFolder('kit-documents'));
  const receiver = await forFile(startReceiver());
  const bin = join(workspaceRoot, 'packages/webhook-receiver/src/bin.ts');
  const args = ['listen', '--to', receiver.url, '--types', 'webhook.test'];
  const child = spawn(process.execPath, ['--conditions=deedwire-source', bin, ...args], {
    env: {
      ...compileCache,
      DEEDWIRE_URL: url,
      HEADER_PREFIX: 'X-Service',
      CLIENT_ID: credential.clientId,
      API_KEY: credential.apiKey,
      ORGANIZATION_ID: credential.organizationId,
      XDG_STATE_HOME: state,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const [newest] = await request<{ id: string }[]>('{ webhookListeners { id } }');
  await mutate('sendTestWebhookEvent', 'webhookEventId', { subscriptionId: newest?.id });
  const delivered = receiver.waitFor(1).then(() => 'delivered');
  expect(await Promise.race([delivered, text(child.stderr)])).toBe('delivered');
});
