import { issueCredential } from '@deedwire/actions';
import { abilities, type Ability } from '@deedwire/core';
import { interfaceNames } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { createClient, type Credential, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import {
  buildSchema,
  getNamedType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startInterfaces } from './support/interface-client.ts';
import { contracts, served } from './support/interface-contracts.ts';
import { subscribe } from './support/subscribe.ts';

const t = await forFile(createHarness());
const { urls } = await startInterfaces(t, interfaceNames);

const issue = (account: (typeof interfaceNames)[number], allowed: readonly Ability[]): Promise<Credential> =>
  issueCredential(t.operator, { accountId: t.accounts[account].id, clientId: null, abilities: allowed });

/** A valid choice, even without READ_PAYLOAD: CONFIGURE needs it. */
const allBut = (missing: Ability): Ability[] =>
  abilities.filter((each) => each !== missing && !(missing === 'READ_PAYLOAD' && each === 'CONFIGURE'));

const further = abilities.filter((ability) => ability !== 'READ');

/** A value that GraphQL accepts. */
function valueOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return valueOf(type.ofType);
  if (isListType(type)) return [valueOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(required.map((field) => [field.name, valueOf(field.type)]));
  }
  return { Int: 1, Boolean: true, Long: 1, DateTime: '2026-11-01T00:00:00Z' }[String(type)] ?? 'a';
}

function selectionOf(type: GraphQLOutputType): string {
  return isLeafType(getNamedType(type)) ? '' : '{ __typename }';
}

function list(texts: readonly string[]): string {
  return texts.length > 0 ? `(${texts.join()})` : '';
}

/** An operation with one root field, and the values that it needs. */
function operationOf(kind: 'query' | 'mutation', { name, args, type }: GraphQLField<unknown, unknown>) {
  const needed = args.filter((argument) => isNonNullType(argument.type));
  const variables = list(needed.map((argument) => `$${argument.name}: ${String(argument.type)}`));
  const given = list(needed.map((argument) => `${argument.name}: $${argument.name}`));
  return {
    query: `${kind} ${variables} { ${name} ${given} ${selectionOf(type)} }`,
    variables: Object.fromEntries(needed.map((argument) => [argument.name, valueOf(argument.type)])),
  };
}

describe.each(served)('the $account interface at $date', async ({ account, date }) => {
  const schema = buildSchema(contracts[account].sdl(date));
  const table: Readonly<Record<string, readonly string[]>> = contracts[account].abilities(date);
  const limited = new Map<Ability, Credential>();
  for (const ability of further) limited.set(ability, await issue(account, allBut(ability)));
  const roots = (['query', 'mutation'] as const).flatMap((kind) => {
    const type = kind === 'query' ? schema.getQueryType() : schema.getMutationType();
    return Object.values(type?.getFields() ?? {}).map((field) => ({
      kind,
      field,
      coordinate: `${type?.name}.${field.name}`,
    }));
  });
  const cases = roots.flatMap((root) => further.map((ability) => ({ ...root, ability })));

  test.each(cases)('$coordinate with a key without $ability', async ({ kind, field, coordinate, ability }) => {
    const credential = limited.get(ability);
    if (!credential) throw new Error('Each ability has a key without it.');
    const { query, variables } = operationOf(kind, field);
    const headers = { 'X-Service-Schema-Version': date };
    const { body } = await postGraphql(urls[account], credential, { query, variables, headers });
    const [error] = body.errors ?? [];
    const lacking = table[coordinate]?.filter((need) => !allBut(ability).some((each) => each === need)) ?? ['?'];
    const refusal = `The operation needs the ${lacking.length > 1 ? 'abilities' : 'ability'} ${lacking.join(', ')}, which your key does not have. Use a key that has it.`;
    expect(error?.extensions['code'] === 'FORBIDDEN' ? error.message : null).toBe(lacking.length > 0 ? refusal : null);
  });
});

const createLink = `mutation ($abilities: [PortalAbility!]!) {
  createPortalLink(input: { abilities: $abilities, actor: "ada" }) { portalLink { url } userErrors { code message field } }
}`;

test.each(interfaceNames)('a key of the %s interface creates links with its own abilities at most', async (account) => {
  const credential = await issue(account, ['READ', 'OPERATE']);
  const create = async (chosen: readonly Ability[]) => {
    const { body } = await postGraphql<{ createPortalLink: { userErrors: object[] } }>(urls[account], credential, {
      query: createLink,
      variables: { abilities: chosen },
    });
    return body.data?.createPortalLink.userErrors;
  };
  const message =
    'Your key does not have the abilities READ_PAYLOAD, CONFIGURE. A link has at most the abilities of the key that creates it.';
  // The portal is not served here.
  const unavailable = { code: 'PORTAL_UNAVAILABLE' };
  expect(await create(['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'])).toMatchObject([
    { code: 'ABILITIES_INVALID', field: ['input', 'abilities'], message },
    unavailable,
  ]);
  expect(await create(['READ', 'OPERATE'])).toMatchObject([unavailable]);
});

test.each([
  ['a body', 500, { 'Content-Type': 'text/x-canary' }],
  ['a redirect', 302, { Location: 'http://internal.example/canary' }],
  ['an encoding', 200, { 'Content-Encoding': 'canary' }],
])('without READ_PAYLOAD, the error of a handshake quotes nothing of the response: %s', async (_, status, headers) => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const owner = createClient(urls.customer, t.accounts.customer.credential);
  const { id } = await subscribe(owner, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'order.placed', version: '2026-11-01' }],
  });
  receiver.onHandshake = (response) => response.writeHead(status, headers).end('canary');
  await t.sql(`update webhook_subscription set paused_reason = 'GONE', paused_at = now() where id = $1`, [
    id.split('/').at(-1),
  ]);
  const resumeWith = async (allowed: readonly Ability[]) => {
    const { body } = await postGraphql<{ resumeWebhookSubscription: { userErrors: { message: string }[] } }>(
      urls.customer,
      await issue('customer', allowed),
      { query: resume, variables: { id } },
    );
    return body.data?.resumeWebhookSubscription.userErrors[0]?.message;
  };
  expect(await resumeWith(['READ', 'READ_PAYLOAD', 'OPERATE'])).toContain('canary');
  const hidden = await resumeWith(['READ', 'OPERATE']);
  expect(hidden).toMatch(/^The callback URL returned /);
  expect(hidden).not.toContain('canary');
});

const resume = `mutation ($id: ID!) { resumeWebhookSubscription(input: { id: $id }) { userErrors { message } } }`;
