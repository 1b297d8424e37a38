import { setTimeout as sleep } from 'node:timers/promises';
import { formatAccountGid, formatGid, requestHeaderAssociatedData, secretAssociatedData } from '@deedwire/core';
import { secretKeyId, type SecretKeyRing, SecretUnreadableError, type Transaction } from '@deedwire/store';
import {
  type IdempotencySecretRow,
  replaceIdempotencySecrets,
  selectIdempotencySecrets,
} from '@deedwire/store/idempotency';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import {
  replaceSubscriptionHeaders,
  replaceSubscriptionSecrets,
  selectSubscriptionHeaders,
  selectSubscriptionSecrets,
  type SubscriptionSecretRef,
} from '../webhooks/subscriptions/secrets.ts';

/** How many secrets of a table a key has encrypted. */
export interface SecretCount {
  table: string;
  /** Null: the stored bytes are not a ciphertext. */
  keyId: string | null;
  secrets: number;
}

/** What `rewrapSecrets` has done. */
export interface RewrapReport {
  currentKeyId: string;
  before: SecretCount[];
  after: SecretCount[];
  /** Secrets that no key could decrypt. They were not changed. */
  unreadable: number;
  /** The first of them, at most 20. */
  examples: { id: string; reason: string }[];
}

export interface RewrapContext extends OperatorContext {
  secretKeys: SecretKeyRing;
}

const pageSize = 500;
const examplesMax = 20;
/** A pass leaves out the secrets that others have locked or changed meanwhile, so others follow. */
const passesMax = 20;
const pauseMs = 250;

/** Counts the secrets of each key. */
export async function countSecrets(context: ActionContext): Promise<SecretCount[]> {
  const counts: SecretCount[] = [];
  for (const table of secretTables(context)) counts.push(...(await table.count()));
  return counts;
}

/**
 * Encrypts all webhook secrets and request headers with the current key. Others can go on reading, creating, changing and deleting them: a
 * ciphertext is replaced only if it is still the one that was read. A call after an interruption continues.
 *
 * @param onProgress called with the number of rows and of further secrets in them that were read
 */
export async function rewrapSecrets(
  context: RewrapContext,
  onProgress: (rows: number) => void = () => {},
): Promise<RewrapReport> {
  const { currentKeyId } = context.secretKeys;
  const report: RewrapReport = { currentKeyId, before: [], after: [], unreadable: 0, examples: [] };
  let rows = 0;
  const onRead = (read: number): void => onProgress((rows += read));
  for (const table of secretTables(context)) {
    const first = await table.pass(context, onRead);
    let last = first;
    // The last pass has changed nothing, so what it counted is the result.
    for (let passes = 1; last.replaced + last.missed > 0 && passes < passesMax; passes += 1) {
      if (last.missed > 0) await sleep(pauseMs);
      last = await table.pass(context, onRead);
    }
    report.before.push(...first.counts);
    report.after.push(...last.counts);
    report.unreadable += last.unreadable;
    report.examples.push(...last.examples.slice(0, examplesMax - report.examples.length));
  }
  return report;
}

interface Pass {
  /** Before the pass. */
  counts: SecretCount[];
  replaced: number;
  /** Secrets that others have locked or changed since they were read. */
  missed: number;
  unreadable: number;
  examples: RewrapReport['examples'];
}

interface SecretTable {
  count(): Promise<SecretCount[]>;
  pass(context: RewrapContext, onRead: (rows: number) => void): Promise<Pass>;
}

function secretTables(context: ActionContext): SecretTable[] {
  const { store, gidNamespace } = context;
  return [
    secretTable<SubscriptionSecretRef>({
      name: 'webhook_subscription',
      context,
      read: async (after) =>
        (await selectSubscriptionSecrets(store, after, pageSize)).map(({ secretCiphertext, ...ref }) => ({
          ref,
          associatedData: secretAssociatedData(ref.id),
          ciphertext: secretCiphertext,
        })),
      replace: replaceSubscriptionSecrets,
      describe: ({ id, isNext }) =>
        formatGid(gidNamespace, 'WebhookSubscription', id) + (isNext ? ', new secret of a rotation' : ''),
    }),
    secretTable<SubscriptionId>({
      name: 'webhook_subscription, request headers',
      context,
      read: async (after) =>
        // For the stored origin, even while the callback URL has another one: an earlier release can move it back.
        (await selectSubscriptionHeaders(store, after, pageSize)).map(({ id, name, ciphertext, origin }) => ({
          ref: id,
          associatedData: requestHeaderAssociatedData(id, name, origin),
          ciphertext,
        })),
      replace: replaceSubscriptionHeaders,
      describe: (id) => `${formatGid(gidNamespace, 'WebhookSubscription', id)}, request header`,
    }),
    secretTable<IdempotencySecretRow>({
      name: 'idempotency_key',
      context,
      read: async (after) =>
        (await selectIdempotencySecrets(store, after, pageSize)).map((row) => ({
          ref: row,
          associatedData: row.recordId && secretAssociatedData(row.recordId),
          ciphertext: row.secretCiphertext,
        })),
      replace: replaceIdempotencySecrets,
      describe: ({ interfaceName, accountId, key }) =>
        `${formatAccountGid(context, interfaceName, accountId)} idempotency key '${key}'`,
    }),
  ];
}

interface StoredSecret<Ref> {
  ref: Ref;
  /** Null if the secret belongs to no subscription. */
  associatedData: string | null;
  /** Null or empty if the row has no secret. */
  ciphertext: Buffer | null;
}

interface TableAccess<Ref> {
  name: string;
  context: ActionContext;
  /** The secrets of the next `pageSize` rows. A subscription can have two. */
  read: (after: Ref | null) => Promise<StoredSecret<Ref>[]>;
  /** Returns how many were replaced. */
  replace: (
    transaction: Transaction,
    secrets: readonly { ref: Ref; read: Buffer; replacement: Buffer }[],
  ) => Promise<number>;
  /** Names a row for an operator. */
  describe: (ref: Ref) => string;
}

function secretTable<Ref>({ name, context: { store }, read, replace, describe }: TableAccess<Ref>): SecretTable {
  const listOf = (counts: KeyCounts): SecretCount[] =>
    [...counts].map(([keyId, secrets]) => ({ table: name, keyId, secrets }));

  async function* pages(): AsyncGenerator<StoredSecret<Ref>[]> {
    let page = await read(null);
    while (page.length > 0) {
      yield page;
      page = page.length < pageSize ? [] : await read(page.at(-1)?.ref ?? null);
    }
  }

  return {
    async count() {
      const counts: KeyCounts = new Map();
      for await (const page of pages()) {
        for (const { ciphertext } of page) if (hasSecret(ciphertext)) countKey(counts, ciphertext);
      }
      return listOf(counts);
    },

    async pass({ secretKeys, operator }, onRead) {
      const counts: KeyCounts = new Map();
      const pass: Pass = { counts: [], replaced: 0, missed: 0, unreadable: 0, examples: [] };
      for await (const page of pages()) {
        const secrets: { ref: Ref; read: Buffer; replacement: Buffer }[] = [];
        for (const { ref, associatedData, ciphertext } of page) {
          if (!hasSecret(ciphertext) || countKey(counts, ciphertext) === secretKeys.currentKeyId) continue;
          const result = reencrypt(secretKeys, ciphertext, associatedData);
          if (result.replacement !== null) {
            secrets.push({ ref, read: ciphertext, replacement: result.replacement });
            continue;
          }
          pass.unreadable += 1;
          if (pass.examples.length < examplesMax) pass.examples.push({ id: describe(ref), reason: result.reason });
        }
        if (secrets.length > 0) {
          const replaced = await store.transaction(async (transaction) => {
            const changed = await replace(transaction, secrets);
            if (changed > 0) {
              await appendAuditEntry(transaction, operator, {
                action: 'secrets.rewrap',
                subject: secretKeys.currentKeyId,
                account: null,
                details: { table: name, secrets: changed },
              });
            }
            return changed;
          });
          pass.replaced += replaced;
          pass.missed += secrets.length - replaced;
        }
        onRead(page.length);
      }
      return { ...pass, counts: listOf(counts) };
    },
  };
}

/** Deleted subscriptions have an empty ciphertext, and most idempotency keys have none. */
function hasSecret(ciphertext: Buffer | null): ciphertext is Buffer {
  return ciphertext !== null && ciphertext.length > 0;
}

function reencrypt(
  keys: SecretKeyRing,
  ciphertext: Buffer,
  associatedData: string | null,
): { replacement: Buffer } | { replacement: null; reason: string } {
  if (associatedData === null) return { replacement: null, reason: 'The secret belongs to no subscription.' };
  try {
    return { replacement: keys.encrypt(keys.decrypt(ciphertext, associatedData), associatedData) };
  } catch (error) {
    if (error instanceof SecretUnreadableError) return { replacement: null, reason: error.message };
    throw error;
  }
}

/** Counts a secret, and returns the id of its key. */
function countKey(counts: KeyCounts, ciphertext: Buffer): string | null {
  const keyId = secretKeyId(ciphertext);
  counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
  return keyId;
}

type KeyCounts = Map<string | null, number>;
