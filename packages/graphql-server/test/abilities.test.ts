import type { Ability } from '@deedwire/core';
import { forFile } from '@deedwire/testing/for-file';
import { useResponseCache } from '@envelop/response-cache';
import { afterEach, expect, test } from 'vitest';
import { jsonHeaders, startSampleServer, stored } from './sample-server.ts';

const server = await forFile(startSampleServer({ plugins: () => [useResponseCache({ session: () => null })] }));

afterEach(() => server.findKeysWith(async () => stored));

const limitTo = (...abilities: Ability[]): void => server.findKeysWith(async () => ({ ...stored, abilities }));

async function send(body: object) {
  const response = await fetch(server.url, { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) });
  const { data, errors } = JSON.parse(await response.text());
  return { status: response.status, data, code: errors?.[0]?.extensions.code, message: errors?.[0]?.message };
}

const lacks = (names: string) => ({
  status: 403,
  code: 'FORBIDDEN',
  message: `The operation needs the ${names.includes(',') ? 'abilities' : 'ability'} ${names}, which your key does not have. Use a key that has it.`,
});

test('an operation is refused for what the key may not do, and the message names it', async () => {
  limitTo('READ', 'OPERATE');
  expect(await send({ query: '{ hello }' })).toMatchObject({ status: 200, data: { hello: 'hello world' } });
  expect(await send({ query: 'mutation { second }' })).toMatchObject({ ...lacks('CONFIGURE'), data: undefined });
  expect(await send({ query: 'mutation { first(input: { name: "a" }) }' })).toMatchObject(lacks('WRITE'));
  limitTo('READ');
  expect(await send({ query: 'mutation { second }' })).toMatchObject(lacks('OPERATE, CONFIGURE'));
});

test.each([
  ['a fragment', 'mutation { ...A } fragment A on Mutation { second }'],
  ['a fragment of a fragment', 'mutation { ...A } fragment A on Mutation { ...B } fragment B on Mutation { second }'],
  ['an inline fragment', 'mutation { ... on Mutation { ... { second } } }'],
  ['an alias', 'mutation { hello: second }'],
  ['a field that is skipped', 'mutation { second @skip(if: true) }'],
  ['a field that is not included', 'mutation($yes: Boolean = false) { second @include(if: $yes) }'],
])('%s counts as the field', async (_, query) => {
  limitTo('READ', 'OPERATE', 'WRITE');
  expect(await send({ query })).toMatchObject(lacks('CONFIGURE'));
});

test('only the operation that runs counts, and the fragments that it reaches', async () => {
  limitTo('READ');
  const query = `query One { hello ...A } mutation Two { ...B } fragment A on Query { again { hello } }
    fragment B on Mutation { second }`;
  for (let run = 0; run < 3; run += 1) {
    expect(await send({ query, operationName: 'One' })).toMatchObject({ status: 200 });
    expect(await send({ query, operationName: 'Two' })).toMatchObject(lacks('OPERATE, CONFIGURE'));
  }
});

test('a response in the cache of a plugin is refused, too', async () => {
  const query = 'query Secret { again { secret } }';
  expect(await send({ query })).toMatchObject({ status: 200, data: { again: { secret: 'secret' } } });
  limitTo('READ');
  expect(await send({ query })).toMatchObject(lacks('READ_PAYLOAD'));
});

test('a document that is rejected is rejected, whatever the key may do', async () => {
  limitTo('READ');
  expect(await send({ query: 'mutation { second unknown }' })).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  expect(await send({ query: '{ __schema { mutationType { name } } }' })).toMatchObject({ status: 200 });
});
