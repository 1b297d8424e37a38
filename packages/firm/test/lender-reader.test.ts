import { createAccount } from '@deedwire/actions';
import { toRecordId } from '@deedwire/core';
import { StoreUnavailableError, type Database } from '@deedwire/store';
import { beforeEach, expect, test } from 'vitest';
import { addTeamMember, createLenderReader, pageTeamMembers } from '../src/lender/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

let statements: string[];
let failure: Error | null;
let database: Database;

beforeEach(async () => {
  statements = [];
  failure = null;
  database = {
    query(statement, values) {
      statements.push(statement.name);
      return failure ? Promise.reject(failure) : world.lenderApi.store.query(statement, values);
    },
  };
});

const all = { afterId: null, limit: 250 };

const member = (id: string | undefined, number: number) => ({
  id,
  firstName: `First "${number}"`,
  lastName: 'Last\u0007',
  email: `m${number}@example.com`,
});

async function addMembers(lenderId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const details = { firstName: `First "${number}"`, lastName: 'Last\u0007', email: `m${number}@example.com` };
    const { id } = await addTeamMember(world.operator, { lenderId, ...details });
    ids.push(id.split('/').at(-1) ?? '');
  }
  return ids;
}

test('reads the name, all members and a page of several lenders in one statement', async () => {
  const ids = await addMembers(world.lender.gid, 3);
  const otherIds = await addMembers(world.otherLender.gid, 1);
  const reader = createLenderReader(database);
  const [own, other] = [world.lender.accountId, world.otherLender.accountId];
  const results = await Promise.all([
    reader.readName(own),
    reader.readMembers(own, all),
    reader.readMembers(own, { afterId: toRecordId(ids[0] ?? ''), limit: 1 }),
    reader.readName(other),
    reader.readMembers(other, all),
  ]);
  expect(results).toEqual([
    'Lender',
    [member(ids[0], 1), member(ids[1], 2), member(ids[2], 3)],
    [member(ids[1], 2)],
    'Other lender',
    [member(otherIds[0], 1)],
  ]);
  expect(statements).toEqual(['select-lenders']);
});

test('reads again what changed between two calls', async () => {
  const reader = createLenderReader(database);
  expect(await reader.readMembers(world.lender.accountId, all)).toEqual([]);
  await addMembers(world.lender.gid, 1);
  expect(await reader.readMembers(world.lender.accountId, all)).toHaveLength(1);
  expect(statements).toHaveLength(2);
});

test('splits a batch of more than 32 lenders', async () => {
  const accounts: string[] = [];
  for (let number = 1; number <= 33; number += 1) {
    const { id } = await createAccount(world.operator, 'lender', {
      organizationId: world.organizationId,
      name: `Lender ${number}`,
    });
    accounts.push(id.split('/').at(-1) ?? '');
  }
  const reader = createLenderReader(database);
  const names = await Promise.all(accounts.map((id) => reader.readName(toRecordId(id))));
  expect(names).toEqual(accounts.map((_, index) => `Lender ${index + 1}`));
  expect(statements).toEqual(['select-lenders', 'select-lender-name']);
});

test('reads a single lender with its own statements, unless it needs several pages', async () => {
  const [firstId, secondId, thirdId] = await addMembers(world.lender.gid, 3);
  const [first, second, third] = [member(firstId, 1), member(secondId, 2), member(thirdId, 3)];
  const { accountId } = world.lender;
  const reader = createLenderReader(database);
  expect(await reader.readName(accountId)).toBe('Lender');
  expect(await Promise.all([reader.readName(accountId), reader.readMembers(accountId, all)])).toEqual([
    'Lender',
    [first, second, third],
  ]);
  const page = { afterId: toRecordId<'TeamMember'>(firstId ?? ''), limit: 1 };
  expect(await reader.readMembers(accountId, page)).toEqual([second]);
  expect(statements).toEqual(['select-lender-name', 'select-lender', 'select-lender']);
  expect(await Promise.all([reader.readMembers(accountId, page), reader.readMembers(accountId, all)])).toEqual([
    [second],
    [first, second, third],
  ]);
  expect(statements.at(-1)).toBe('select-lenders');
});

test('rejects for a single lender that does not exist, and for a partner', async () => {
  const reader = createLenderReader(database);
  const message = 'has credentials but does not exist';
  await expect(reader.readName(world.partner.accountId)).rejects.toThrow(message);
  await expect(reader.readMembers(world.partner.accountId, all)).rejects.toThrow(message);
  await expect(reader.readMembers(toRecordId('1'), all)).rejects.toThrow(message);
});

test('waits for the rest of the turn while a statement runs, and for nothing otherwise', async () => {
  const reader = createLenderReader(database);
  const first = reader.readName(world.lender.accountId);
  await Promise.resolve();
  expect(statements).toEqual(['select-lender-name']);
  const second = reader.readName(world.lender.accountId);
  await Promise.resolve();
  const third = reader.readName(world.otherLender.accountId);
  expect(await Promise.all([first, second, third])).toEqual(['Lender', 'Lender', 'Other lender']);
  expect(statements).toEqual(['select-lender-name', 'select-lenders']);
  await Promise.resolve();
  const fourth = reader.readName(world.lender.accountId);
  await Promise.resolve();
  expect(statements).toHaveLength(3);
  expect(await fourth).toBe('Lender');
});

test('rejects only for the lender that does not exist, and for partners', async () => {
  const reader = createLenderReader(database);
  const results = await Promise.allSettled([
    reader.readName(toRecordId('1')),
    reader.readName(world.lender.accountId),
    reader.readMembers(world.partner.accountId, all),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
});

test('rejects for all lenders of a statement that fails, and reads again afterwards', async () => {
  const reader = createLenderReader(database);
  failure = new StoreUnavailableError(new Error('gone'));
  const results = await Promise.allSettled([
    reader.readName(world.lender.accountId),
    reader.readName(world.otherLender.accountId),
  ]);
  expect(results).toEqual([
    { status: 'rejected', reason: failure },
    { status: 'rejected', reason: failure },
  ]);
  failure = null;
  expect(await reader.readName(world.lender.accountId)).toBe('Lender');
});

test('pages through the members of the calling lender', async () => {
  const ids = await addMembers(world.lender.gid, 3);
  const first = await pageTeamMembers(world.lenderApi, world.lender, { first: 2 });
  expect(first.hasNextPage).toBe(true);
  const second = await pageTeamMembers(world.lenderApi, world.lender, { first: 2, after: first.endCursor });
  const found = [...first.edges, ...second.edges].map(({ node }) => node.id.split('/').at(-1));
  expect(found).toEqual(ids);
  expect(second.hasNextPage).toBe(false);
});
