import {
  type AddressRange,
  generateApiKey,
  hasHostBits,
  parseRange,
  readRanges,
  storedHash,
  toAddressRanges,
} from '@deedwire/auth';
import {
  type Ability,
  abilities as inOrder,
  type AccountId,
  describeSubscriptionName,
  findAbilitiesFault,
  type InterfaceName,
  isSubscriptionName,
  parseGid,
  type RecordId,
} from '@deedwire/core';
import type { Database, Transaction } from '@deedwire/store';
import {
  type ActingOnKeys,
  type ApiKeyRow,
  type IssueProblem,
  issueApiKey,
  type NewApiKey,
  revokeApiKey as revokeKey,
  type RevokeProblem,
  selectApiKey,
  selectKeysOfClient,
} from '@deedwire/store/credentials';
import { workerOf } from '@deedwire/webhooks/outbox';
import { z } from 'zod';
import { nameCaller } from '../kernel/audit.ts';
import { type ActionContext, type Caller, isCaller, type Operator } from '../kernel/context.ts';
import { inputError, type MutationResult, type UserError, type IdempotencyErrorCode } from '../kernel/errors.ts';
import { type IdempotentRequest, resultOf, type SaveResult, withIdempotencyKey } from '../kernel/idempotency.ts';

/** `ApiKey`: a key without its secret. */
export interface ApiKey {
  /** The key id. */
  id: string;
  name: string | null;
  abilities: Ability[];
  /** Networks in CIDR notation. Null: the key is accepted from any address. */
  addresses: string[] | null;
  createdAt: Date;
  /** Null: an operator. */
  createdBy: { apiKeyId: string | null; portalActor: string | null } | null;
  expiresAt: Date | null;
  /** Null: the key is accepted. */
  endedAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedFrom: string | null;
  lastUsedVersion: string | null;
}

function toApiKey(row: ApiKeyRow, now: Date): ApiKey {
  const { keyId, name, abilities, addresses, createdAt, createdByKey, createdByActor, expiresAt, revokedAt } = row;
  const { lastUsedAt, lastUsedFrom, lastUsedVersion } = row;
  const isOfOperator = createdByKey === null && createdByActor === null;
  const ends = [revokedAt, expiresAt].filter((end) => end !== null && end <= now);
  return {
    id: keyId,
    name,
    abilities,
    addresses,
    createdAt,
    createdBy: isOfOperator ? null : { apiKeyId: createdByKey, portalActor: createdByActor },
    expiresAt,
    // A revocation counts before its time: the clocks of two machines can differ.
    endedAt: ends.toSorted((a, b) => Number(a) - Number(b))[0] ?? revokedAt,
    lastUsedAt,
    lastUsedFrom,
    lastUsedVersion,
  };
}

/** The keys of the client of the caller, those that are accepted first. */
export async function listApiKeys({ store, now }: ActionContext, caller: Caller): Promise<ApiKey[]> {
  const client = clientOf(caller);
  const rows = client === null ? [] : await selectKeysOfClient(store, client);
  return rows.map((row) => toApiKey(row, now()));
}

/**
 * The client whose keys the caller manages: another client of the account that repeats a request repeats another one. Null in a session
 * whose link an operator made, unless it is an invite.
 */
function clientOf({ clientId, keys }: Caller): string | null {
  return keys ? keys.clientId : clientId;
}

function actingOf({ gidNamespace }: ActionContext, by: Caller | Operator): ActingOnKeys {
  if (!isCaller(by)) return { keyId: null, sessionId: null };
  return {
    keyId: by.keyId ?? null,
    sessionId: by.portal ? parseGid(gidNamespace, 'PortalSession', by.portal.sessionId) : null,
  };
}

/** The account of a key. */
interface KeyOwner {
  accountId: AccountId;
  interfaceName: InterfaceName;
}

/** What a new key is and replaces. */
export interface KeyToIssue extends Omit<NewApiKey, 'keyId' | 'keyHash'> {
  /** The client that gets it. Null: that of the acting key. */
  apiClientId: RecordId<'ApiClient'> | null;
  replaced: { keyId: string; overlapSeconds: number } | null;
}

/**
 * Creates or replaces a key. The database appends its event. The transaction has named who does it.
 *
 * @returns the whole key, of which the hash is stored, or why nothing was changed
 */
export async function issueKey(
  context: ActionContext,
  transaction: Transaction,
  { by, owner: { accountId, interfaceName } }: { by: Caller | Operator; owner: KeyOwner },
  { apiClientId, replaced, ...limits }: KeyToIssue,
): Promise<{ keyId: string; secret: string } | IssueProblem> {
  const generated = generateApiKey(context.service, interfaceName);
  const { keyId } = generated;
  const abilities = inOrder.filter((ability) => limits.abilities.includes(ability));
  const addresses = limits.addresses && readRanges(limits.addresses);
  const keyHash = storedHash(generated.keyHash, { abilities, addresses });
  const problem = await issueApiKey(
    transaction,
    actingOf(context, by),
    { apiClientId, replaced },
    { ...limits, keyId, keyHash, abilities },
  );
  if (problem !== null) return problem;
  transaction.notifyAfterCommit(workerOf(accountId));
  return { keyId, secret: generated.apiKey };
}

/**
 * Revokes a key. The database appends its event. The transaction has named who does it.
 *
 * @returns why the key was not revoked. Null: it was
 */
export async function endKey(
  context: ActionContext,
  transaction: Transaction,
  { by, owner: { accountId } }: { by: Caller | Operator; owner: KeyOwner },
  keyId: string,
): Promise<RevokeProblem | null> {
  const problem = await revokeKey(transaction, actingOf(context, by), keyId);
  if (problem === null) transaction.notifyAfterCommit(workerOf(accountId));
  return problem;
}

async function findKey(database: Database, { now }: ActionContext, keyId: string): Promise<ApiKey> {
  const row = await selectApiKey(database, keyId);
  if (row === null) throw new Error(`The key ${keyId} does not exist after its change.`);
  return toApiKey(row, now());
}

type KeyErrorCode =
  | IdempotencyErrorCode
  | 'ABILITIES_INVALID'
  | 'ADDRESSES_INVALID'
  | 'EXPIRY_INVALID'
  | 'KEY_SELF_SERVICE_OFF'
  | 'LIMIT_REACHED'
  | 'SECRET_NOT_REPEATED';

export type CreateApiKeyErrorCode = KeyErrorCode | 'NAME_INVALID';

export type RotateApiKeyErrorCode = KeyErrorCode | 'KEY_ENDED' | 'NOT_FOUND' | 'OVERLAP_INVALID';

type NewKeyResult<Code extends string> = MutationResult<{ apiKey: ApiKey; apiKeySecret: string }, Code>;

/** `CreateApiKeyInput`. A field that is null or undefined is not set. */
export interface CreateApiKeyInput {
  name: string;
  abilities: readonly Ability[];
  expiresAt?: Date | null | undefined;
  addresses?: readonly string[] | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** How a saved result keeps a key. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
const savedKey = z.object({ keyId: z.string() });

type SavedKey = z.infer<typeof savedKey>;

/** Creates a key of the client of the caller, within what the caller may give. */
export async function createApiKey(
  context: ActionContext,
  caller: Caller,
  input: CreateApiKeyInput,
): Promise<NewKeyResult<CreateApiKeyErrorCode>> {
  const { name, abilities, expiresAt = null, addresses = null } = input;
  const request = {
    mutation: 'createApiKey',
    key: input.idempotencyKey,
    input: { client: clientOf(caller), name, abilities: abilities.toSorted(), expiresAt, addresses },
    codec: savedKey,
  };
  return withSavedKey(context, caller, request, {
    findInputErrors: () => findInputErrors(input, context.now()),
    async work(transaction) {
      const limits = { name, abilities, addresses, expiresAt };
      const issued = await issueKey(
        context,
        transaction,
        { by: caller, owner: caller },
        { ...limits, apiClientId: null, replaced: null },
      );
      return typeof issued === 'object' ? issued : issueError(issued, caller, { of: 'The key would have', abilities });
    },
  });
}

/** `RotateApiKeyInput`. A field that is null or undefined is not set. */
export interface RotateApiKeyInput {
  id: string;
  overlapSeconds?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
}

const defaultOverlapSeconds = 86_400;
export const overlapSecondsMax = 30 * 86_400;

/** Replaces a key of the client of the caller, which the caller could also create. */
export async function rotateApiKey(
  context: ActionContext,
  caller: Caller,
  input: RotateApiKeyInput,
): Promise<NewKeyResult<RotateApiKeyErrorCode>> {
  const overlapSeconds = input.overlapSeconds ?? defaultOverlapSeconds;
  const request = {
    mutation: 'rotateApiKey',
    key: input.idempotencyKey,
    input: { client: clientOf(caller), id: input.id, overlapSeconds },
    codec: savedKey,
  };
  return withSavedKey(context, caller, request, {
    findInputErrors: () => (isOverlap(overlapSeconds) ? [] : [overlapInvalid(overlapSeconds)]),
    async work(transaction) {
      // The database replaces it by one with the same limits, of which the hash depends on those that cannot change.
      const old = await selectApiKey(transaction, input.id);
      if (old === null) return keyNotFound;
      const { name, abilities, addresses, expiresAt } = old;
      const issued = await issueKey(
        context,
        transaction,
        { by: caller, owner: caller },
        {
          name,
          abilities,
          addresses,
          expiresAt,
          apiClientId: null,
          replaced: { keyId: input.id, overlapSeconds },
        },
      );
      if (typeof issued === 'object') return issued;
      if (issued === 'NOT_FOUND') return keyNotFound;
      if (issued === 'KEY_ENDED') return keyEnded;
      const error = issueError(issued, caller, { of: 'The key has', abilities });
      return error.field === null ? error : { ...error, field: ['input', 'id'] };
    },
  });
}

export function isOverlap(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= overlapSecondsMax;
}

function overlapInvalid(seconds: number): UserError<'OVERLAP_INVALID'> {
  const message = `The overlap must be 0 to ${overlapSecondsMax.toLocaleString('en')} seconds (30 days); it is ${seconds.toLocaleString('en')}.`;
  return inputError('OVERLAP_INVALID', 'overlapSeconds', message);
}

const keyNotFound = inputError('NOT_FOUND', 'id', 'Your client has no key with this id.');

const keyEnded = inputError('KEY_ENDED', 'id', 'The key was revoked or has expired. Create another one.');

interface KeyWork<Code extends string> {
  findInputErrors: () => UserError<Code>[];
  work: (transaction: Transaction) => Promise<{ keyId: string; secret: string } | UserError<Code>>;
}

/** Runs `work` in a transaction that names the caller. A repeated request gets the key of the first one without its secret. */
async function withSavedKey<Code extends string>(
  context: ActionContext,
  caller: Caller,
  request: IdempotentRequest<SavedKey>,
  { findInputErrors: find, work }: KeyWork<Code>,
): Promise<NewKeyResult<Code | IdempotencyErrorCode | 'SECRET_NOT_REPEATED'>> {
  const reject = (userErrors: UserError<Code | IdempotencyErrorCode>[]) => ({
    apiKey: null,
    apiKeySecret: null,
    userErrors,
  });
  const done = await withIdempotencyKey(context, caller, request, async (saveResult: SaveResult<SavedKey>) => {
    const userErrors = find();
    if (userErrors.length > 0) return reject(userErrors);
    return context.store.transaction(async (transaction) => {
      await nameCaller(transaction, caller);
      const result = await work(transaction);
      if ('code' in result) return reject([result]);
      const { keyId, secret } = result;
      await saveResult(transaction, { payload: { keyId }, secretCiphertext: null, recordId: null });
      return { apiKey: await findKey(transaction, context, keyId), apiKeySecret: secret, userErrors: [] };
    });
  });
  if (done.kind === 'repeated') {
    const { keyId } = done.saved.payload;
    const row = await selectApiKey(context.store, keyId);
    const apiKey = row && toApiKey(row, context.now());
    return { apiKey, apiKeySecret: null, userErrors: [secretNotRepeated(keyId)], isRepeated: true };
  }
  return resultOf(done, { repeat: () => reject([]), reject, findInputErrors: find });
}

function secretNotRepeated(keyId: string): UserError<'SECRET_NOT_REPEATED'> {
  return {
    code: 'SECRET_NOT_REPEATED',
    message: `This request was repeated, and the secret of the key ${keyId} was in the first response. If you did not receive it, rotate the key.`,
    field: null,
  };
}

const addressesMax = 20;

function findInputErrors(
  { name, abilities, expiresAt, addresses }: CreateApiKeyInput,
  now: Date,
): UserError<'ABILITIES_INVALID' | 'ADDRESSES_INVALID' | 'EXPIRY_INVALID' | 'NAME_INVALID'>[] {
  const found: UserError<'ABILITIES_INVALID' | 'ADDRESSES_INVALID' | 'EXPIRY_INVALID' | 'NAME_INVALID'>[] = [];
  const fault = findAbilitiesFault(abilities);
  if (!isSubscriptionName(name)) found.push(inputError('NAME_INVALID', 'name', describeSubscriptionName(name)));
  if (fault !== null) found.push(inputError('ABILITIES_INVALID', 'abilities', fault));
  const addressFault = addresses ? findAddressesFault(addresses) : null;
  if (addressFault !== null) found.push(inputError('ADDRESSES_INVALID', 'addresses', addressFault));
  const expiryFault = expiresAt ? findExpiryFault(expiresAt, now) : null;
  if (expiryFault !== null) found.push(inputError('EXPIRY_INVALID', 'expiresAt', expiryFault));
  return found;
}

/** The last one that the database stores. */
const expiryMax = new Date('9999-12-31T00:00:00.000Z');

/** Says what is wrong with the time from which a key is to be rejected. Null: it is valid. */
export function findExpiryFault(expiresAt: Date, now: Date): string | null {
  if (expiresAt > now && expiresAt <= expiryMax) return null;
  return `The expiry must be in the future, and at the latest ${expiryMax.toISOString()}; it is ${expiresAt.toISOString()}. A key without one does not expire.`;
}

/** An IPv6 range that contains IPv4 addresses, which are accepted in this form too. */
const ipv4InIpv6: AddressRange = { address: '::ffff:0:0', prefixBits: 96, family: 'ipv6' };

function includesIpv4(range: AddressRange): boolean {
  if (range.family === 'ipv4') return false;
  return toAddressRanges([range]).includes('0.0.0.0') || toAddressRanges([ipv4InIpv6]).includes(range.address);
}

/** Says what is wrong with the networks from which a key is to be accepted. Null: they are valid. */
export function findAddressesFault(addresses: readonly string[]): string | null {
  if (addresses.length === 0 || addresses.length > addressesMax)
    return `Pass 1 to ${addressesMax} addresses, or null to accept the key from any address. You passed ${addresses.length}.`;
  for (const [index, text] of addresses.entries()) {
    const range = parseRange(text);
    if (range === null)
      return `Address ${index + 1} is neither an IP address nor a network such as 192.0.2.0/24 or 2001:db8::/32.`;
    if (hasHostBits(range))
      return `Address ${index + 1}, ${text}, does not begin with the first address of its network. Pass either the address or the network.`;
    if (includesIpv4(range))
      return `Address ${index + 1}, ${text}, includes IPv4 addresses in IPv6 form. Pass networks such as 0.0.0.0/0 and 2000::/3 instead.`;
  }
  return null;
}

/** The user error for what the database refused. */
function issueError(
  problem: IssueProblem,
  { abilities: ofKey, keys }: Caller,
  { of, abilities }: { of: string; abilities: readonly Ability[] },
): UserError<Exclude<KeyErrorCode, IdempotencyErrorCode>> {
  const own = keys?.abilities ?? ofKey;
  switch (problem) {
    case 'ABILITIES_INVALID': {
      const missing = abilities.filter((ability) => own?.includes(ability) === false).join(', ') || 'an ability';
      return inputError(
        problem,
        'abilities',
        `${of} ${missing}, which ${keys ? 'your session cannot give' : 'your key does not have'}.`,
      );
    }
    case 'ADDRESSES_INVALID':
      return inputError(problem, 'addresses', 'Each address must be in those from which your key is accepted.');
    case 'EXPIRY_INVALID':
      return inputError(problem, 'expiresAt', 'The key must not end after your key.');
    case 'DAILY_LIMIT_REACHED':
      return limitReached('Your client has created or rotated 20 keys in 24 hours. Try again later.');
    case 'LIMIT_REACHED':
      return limitReached(
        'Your client has 5 keys that are accepted. Revoke one first, or rotate one without an overlap.',
      );
    case 'KEY_SELF_SERVICE_OFF':
      return selfServiceOff;
    case 'REFUSED':
      return { ...cannotManage, code: 'ABILITIES_INVALID' };
    case 'KEY_ENDED':
    case 'NOT_FOUND':
      throw new Error(`A new key replaces no key: ${problem}.`);
  }
}

function limitReached(message: string): UserError<'LIMIT_REACHED'> {
  return { code: 'LIMIT_REACHED', message, field: null };
}

const selfServiceOff: UserError<'KEY_SELF_SERVICE_OFF'> = {
  code: 'KEY_SELF_SERVICE_OFF',
  message: 'The operator manages the API keys. Ask the operator for the change.',
  field: null,
};

const cannotManage = { message: 'Your key or session has ended, or lacks MANAGE_KEYS.', field: null };

export type RevokeApiKeyErrorCode = 'KEY_SELF_SERVICE_OFF' | 'LAST_KEY' | 'NOT_FOUND';

/** Revokes a key of the client of the caller. Every process rejects it within a second. */
export async function revokeApiKey(
  context: ActionContext,
  caller: Caller,
  { id }: { id: string },
): Promise<MutationResult<{ apiKey: ApiKey }, RevokeApiKeyErrorCode>> {
  return context.store.transaction(async (transaction) => {
    await nameCaller(transaction, caller);
    const problem = await endKey(context, transaction, { by: caller, owner: caller }, id);
    return problem === null || problem === 'KEY_ENDED'
      ? { apiKey: await findKey(transaction, context, id), userErrors: [] }
      : { apiKey: null, userErrors: [revokeErrors[problem]] };
  });
}

const revokeErrors = {
  KEY_SELF_SERVICE_OFF: selfServiceOff,
  LAST_KEY: inputError(
    'LAST_KEY',
    'id',
    'It is the last key with MANAGE_KEYS. To reject its secret at once, rotate it without an overlap.',
  ),
  NOT_FOUND: keyNotFound,
  REFUSED: { ...cannotManage, code: 'NOT_FOUND' as const },
};
