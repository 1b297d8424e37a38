import { expect, test } from 'vitest';
import {
  concernsRelation,
  endsSession,
  messageOf,
  StoreUnavailableError,
  toStoreError,
  UnconfirmedCommitError,
} from './errors.ts';

test.each([
  ['while locking tuple (0,1) in relation "account"', true],
  ['SQL statement "SELECT 1 FROM ONLY "public"."account" x WHERE "id" OPERATOR(pg_catalog.=) $1"', true],
  ['beim Sperren von Tupel (0,1) in Relation »account«', true],
  ['lors du verrouillage de la ligne (0,1) dans la relation « account »', true],
  ['リレーション"account"のタプル(0,1)のロック中', true],
  ['while locking tuple (0,1) in relation "account_counter"', false],
  ['while locking tuple (0,1) in relation "old_account"', false],
  [undefined, false],
])('finds a relation in the context of an error, in every language: %s', (where, expected) => {
  expect(concernsRelation({ where }, 'account')).toBe(expected);
});

test.each([
  ['57P01', true],
  ['57P05', true],
  ['25P03', true],
  ['25P04', true],
  ['57014', false],
  ['55P03', false],
  ['25P02', false],
])('knows by the code %s whether the session has ended', (code, expected) => {
  expect(endsSession({ code })).toBe(expected);
});

test.each([
  ['lost connection', new Error('Connection terminated unexpectedly')],
  ['missing response', new StoreUnavailableError(new Error('The server did not respond within 12000 ms.'))],
])('an unconfirmed commit keeps the reason of a %s', (_, cause) => {
  const reason = cause instanceof StoreUnavailableError ? cause.reason : cause.message;
  expect(new UnconfirmedCommitError(cause).reason).toBe(reason);
});

const connectError = (code: string, address: string): Error =>
  Object.assign(new Error(`connect ${code} ${address}`), { code, syscall: 'connect' });
const ofTwoAddresses = (code: string): Error => {
  const errors = ['192.0.2.1:5432', '2001:db8::1:5432'].map((address) => connectError(code, address));
  return Object.assign(new AggregateError(errors, ''), { code });
};

test('a file that cannot be opened is no unavailable database', () => {
  const error = Object.assign(new Error('open EMFILE'), { code: 'EMFILE', syscall: 'open' });
  expect(toStoreError(error)).toBe(error);
});

test('the message of a connection to a name names the failure of each address', () => {
  expect(messageOf(ofTwoAddresses('ENETUNREACH'))).toBe(
    'connect ENETUNREACH 192.0.2.1:5432; connect ENETUNREACH 2001:db8::1:5432',
  );
  expect([new AggregateError([new Error('a')], 'b'), new Error('c'), 'd'].map(messageOf)).toEqual(['b', 'c', 'd']);
});
