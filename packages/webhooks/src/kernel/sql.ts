import { alertTypes } from '@deedwire/core';

/** A value whose text needs no quotes in the text form of an array. */
type PlainValue = number | string | bigint | boolean | Date | null;

/**
 * Encodes numbers, ids, enum values, booleans or times as a PostgreSQL array. The encoder of pg takes several times as
 * long, because it escapes each element.
 *
 * @param values strings must contain digits, letters and `-+:._` only; other texts need `pgTextArray`
 */
export function pgArray(values: readonly PlainValue[]): string {
  // `String` keeps the texts of numbers in a cache, which only a full collection empties, and takes three times as long.
  if (values.every((value) => value === null || Number.isFinite(value)))
    return `{${JSON.stringify(values).slice(1, -1)}}`;
  let text = '{';
  let separator = '';
  for (const value of values) {
    text += separator;
    if (value === null) text += 'NULL';
    else if (value instanceof Date) text += value.toISOString();
    else text += String(value);
    separator = ',';
  }
  return `${text}}`;
}

/**
 * A condition: the account is neither frozen nor at home in another cell. Every statement has it that begins work for an account, or
 * writes a row of it; not those that record attempts, for which a freeze waits. With the offset, PostgreSQL looks each account
 * up, and plans no join that reads the whole table once it is large.
 *
 * @param account an expression of the statement
 */
export const isHome = (account: string): string =>
  `not exists (select from account_away where account_away.account_id = ${account} offset 0)`;

/** As `isHome`, of the account of a subscription. */
export const isOfHome = (subscription: string): string =>
  `not exists (
          select from webhook_subscription s join account_away using (account_id) where s.id = ${subscription} offset 0
        )`;

/** Encodes any texts as a PostgreSQL array. */
export function pgTextArray(values: readonly (string | null)[]): string {
  let text = '{';
  let separator = '';
  for (const value of values) {
    text += separator;
    text += value === null ? 'NULL' : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
    separator = ',';
  }
  return `${text}}`;
}

/**
 * Assigns a number to each distinct text, so that a statement receives each text once and reads it as
 * `(texts::text[])[number]`. Use it for few distinct texts: PostgreSQL walks through a text array up to the subscript.
 */
export class TextDictionary {
  readonly #numbers = new Map<string, number>();

  /** @returns the number of the text, from 1 */
  add(text: string): number {
    const found = this.#numbers.get(text);
    if (found !== undefined) return found;
    const number = this.#numbers.size + 1;
    this.#numbers.set(text, number);
    return number;
  }

  toPgArray(): string {
    return pgTextArray([...this.#numbers.keys()]);
  }
}

/** Compares ids of records as numbers. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The smallest and the largest id, for a statement that reads only the partitions between them. */
export function idRange(ids: readonly string[]): [min: string, max: string] {
  let [min = '0'] = ids;
  let max = min;
  for (const id of ids) {
    if (compareIds(id, min) < 0) min = id;
    else if (compareIds(id, max) > 0) max = id;
  }
  return [min, max];
}

/**
 * The `ctid` of the row of webhook_pending_delivery with the key `r (subscription_id, delivery_id)`. Null if there is none.
 *
 * A backlog can come within seconds after statistics of an empty table. The lookups keep the planner from
 * comparing each row of the table with each row of the batch. Their order keeps it from using another index than the primary
 * key; with "=" in place of "between" there would be nothing to order.
 */
export const pendingRow = lookup('');

/** The same, and null if another transaction has locked the row. Locks it otherwise. */
export const unlockedPendingRow = lookup('for update skip locked');

function lookup(lock: string): string {
  return `(
        select ctid
        from webhook_pending_delivery
        where subscription_id = r.subscription_id and delivery_id between r.delivery_id and r.delivery_id
        order by delivery_id
        limit 1
        ${lock}
      )`;
}

/**
 * Part of an update of `webhook_subscription s` that pauses it for a reason stronger than `OWNER` and `OPERATOR`: a pause by the owner is
 * resumed by the owner only. Of an active subscription, an API of an earlier release can have left the time of an earlier pause.
 */
export const rememberedOwnerPause = `owner_paused_at = case
            when s.paused_reason in ('OWNER', 'OPERATOR') then coalesce(s.owner_paused_at, s.paused_at)
            when s.paused_reason is not null then s.owner_paused_at
          end`;

/**
 * Inserts the failures that alerts report, from a relation and by a condition on it. Not those of alerts: alerts about alerts never end.
 */
export const noteFailures = (relation: string, deliveryId: string, condition: string): string => `
        insert into webhook_failure_to_report (subscription_id, delivery_id)
        select subscription_id, ${deliveryId}
        from ${relation}
        where ${condition} and event_type not in (${alertTypes.map((type) => `'${type}'`).join(', ')})
        on conflict do nothing`;

/**
 * The value of a mark. Not `now()`: of two transactions, the one that began first can be the second that marks. Not rounded up, into
 * the future.
 */
export const markTime = `date_trunc('milliseconds', clock_timestamp())`;

/** Whether `webhook_subscription s` may get this mark: the last one is so old, or from before the clock was set back. */
export function mayBeMarked(mark: 'hastened_at' | 'send_pending_at', interval: '1 hour' | '1 minute'): string {
  return `(s.${mark} between clock_timestamp() - interval '${interval}' and clock_timestamp()) is not true`;
}

/**
 * The secrets with which a subscription signs at a time, from `webhook_subscription s`. A rotation that has ended counts as
 * moved, whether housekeeping has moved it or not.
 */
export function secretColumns(time: 'now()' | 'clock_timestamp()'): string {
  return `
  case when s.rotation_ends_at <= ${time} then s.next_secret_ciphertext else s.secret_ciphertext end as "secretCiphertext",
  case when s.rotation_ends_at > ${time} then s.next_secret_ciphertext end as "nextSecretCiphertext"`;
}

/**
 * The recursive part `waiting` of a statement: the delivery of each subscription that is due first. Jumps from subscription to subscription
 * along webhook_pending_delivery_due, so that the number of their deliveries does not matter.
 */
export const firstDueOfEach = `waiting as (
        (
          select subscription_id, delivery_id, due_at
          from webhook_pending_delivery
          order by subscription_id, due_at, sequence
          limit 1
        )
        union all
        select next.subscription_id, next.delivery_id, next.due_at
        from waiting
        cross join lateral (
          select subscription_id, delivery_id, due_at
          from webhook_pending_delivery
          where subscription_id > waiting.subscription_id
          order by subscription_id, due_at, sequence
          limit 1
        ) next
      )`;

/** Whether `webhook_receiver_state receiver`, which can have no row, neither fails nor has asked to wait. */
export const isReceiverWell = `coalesce(receiver.consecutive_failures, 0) = 0
            and coalesce(receiver.hold_until <= clock_timestamp(), true)`;
