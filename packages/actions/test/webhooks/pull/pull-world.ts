import { type AccountId, idAt, toRecordId } from '@deedwire/domain';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { createStore, type Store } from '@deedwire/store';
import { connect, type Connection } from '@deedwire/testing';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { createPastPartitions, createMigratedDatabase, seedAccount } from '@deedwire/webhooks/test-support';
import { findFirstNumbered, isLastBefore } from '../../../src/webhooks/pull/first-numbered.ts';
import { type NumberedPage, type PullPosition, readNumberedPage } from '../../../src/webhooks/pull/numbered-page.ts';
import { type PulledSubscription, selectPulledSubscription } from '../../../src/webhooks/pull/statements.ts';

export const nowMs = Date.now();
export const dayMs = 86_400_000;

/** The id of a time in milliseconds, as the database would have drawn it. `order` tells ids of a millisecond apart. */
export function idOf(ms: number, order = 0): bigint {
  return BigInt(idAt(new Date(Math.floor(ms)))) + BigInt(order);
}

export const idDaysAgo = (days: number, order = 0): bigint => idOf(nowMs - days * dayMs, order);

/** A database with 38 past days, whose deliveries tests insert with ids of their choice. */
export class PullWorld {
  readonly database: TestDatabase;
  readonly superuser: Connection;
  readonly api: Store;
  readonly accountId: AccountId;
  #subscriptions = 0;

  private constructor(database: TestDatabase, superuser: Connection, api: Store, accountId: AccountId) {
    this.database = database;
    this.superuser = superuser;
    this.api = api;
    this.accountId = accountId;
  }

  static async create(): Promise<PullWorld> {
    const database = await createMigratedDatabase();
    const superuser = await connect(database.databaseUrl);
    await createPastPartitions(superuser, 38);
    const api = createStore({ databaseUrl: await database.urlFor('partner_api'), applicationName: 'test' });
    const seeding = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' });
    const { id } = await seedAccount(seeding);
    await seeding.close();
    return new PullWorld(database, superuser, api, id);
  }

  async close(): Promise<void> {
    await Promise.all([this.api.close(), this.superuser.close()]);
    await this.database.drop();
  }

  /** Deletes all deliveries, so that tests can use the same ids. */
  async clear(): Promise<void> {
    for (const table of ['delivery', 'payload', 'attempt']) await this.superuser.run(`delete from webhook_${table}`);
  }

  /** @param daysOld when it was created */
  async subscribe(daysOld = 37): Promise<SubscriptionId> {
    this.#subscriptions += 1;
    const id = toRecordId<'WebhookSubscription'>(String(idDaysAgo(daysOld, this.#subscriptions)));
    await this.superuser.run(
      `with subscription as (
         insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
         values ($1, $2, 'partner', 'https://a.test/', '', 0)
       )
       insert into webhook_subscription_sequence (subscription_id, interface) values ($1, 'partner')`,
      [id, this.accountId],
    );
    return id;
  }

  /** Inserts deliveries with these ids, numbered in this order. Their bodies are `{"n":<number>}`. */
  async deliver(subscriptionId: SubscriptionId, ids: readonly bigint[]): Promise<void> {
    await this.superuser.run(
      `with numbered as (
         update webhook_subscription_sequence set last_sequence = last_sequence + cardinality($3::bigint[])
         where subscription_id = $1
         returning last_sequence - cardinality($3::bigint[]) as before
       ),
       delivery as (
         insert into webhook_delivery
           (id, subscription_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence)
         select d.id, $1, $2, 'partner', d.id, 'referral.created', '2026-11-01', '2026-11-02T09:30:00.123Z', n.before + d.number
         from numbered n, unnest($3::bigint[]) with ordinality as d (id, number)
         returning event_id, sequence
       )
       insert into webhook_payload (event_id, event_version, interface, body)
       select event_id, '2026-11-01', 'partner', convert_to('{"n":' || sequence || '}', 'UTF8') from delivery`,
      [subscriptionId, this.accountId, ids],
    );
  }

  async remove(subscriptionId: SubscriptionId, ...sequences: readonly number[]): Promise<void> {
    await this.superuser.run('delete from webhook_delivery where subscription_id = $1 and sequence = any($2)', [
      subscriptionId,
      sequences,
    ]);
  }

  async expireBefore(id: bigint): Promise<void> {
    await this.superuser.run('update webhook_retention set expired_before = $1', [id]);
  }

  async open(id: SubscriptionId): Promise<PulledSubscription> {
    const subscription = await selectPulledSubscription(this.api, this.accountId, id, 'PUSH');
    if (subscription === null) throw new Error(`The subscription ${id} does not exist.`);
    return subscription;
  }

  async page(
    id: SubscriptionId,
    position: PullPosition,
    limit: number,
    onWideRead?: () => void,
  ): Promise<NumberedPage> {
    return readNumberedPage(this.api, await this.open(id), position, limit, onWideRead);
  }

  /** Reads the numbers of all pages from a position on. */
  async readAll(
    id: SubscriptionId,
    start: PullPosition,
    limit: number,
  ): Promise<{ numbers: number[]; end: string; wide: number }> {
    const numbers: number[] = [];
    let wide = 0;
    for (let position = start; ;) {
      const { rows, lastSequence, end } = await this.page(id, position, limit, () => (wide += 1));
      numbers.push(...rows.map(({ sequence }) => sequence));
      const last = rows.at(-1);
      if (end !== 'full' || last === undefined || last.sequence === lastSequence) return { numbers, end, wide };
      position = { sequence: last.sequence, fromId: BigInt(last.id) };
    }
  }

  async first(id: SubscriptionId, fromId: bigint): Promise<ReturnType<typeof findFirstNumbered>> {
    return findFirstNumbered(this.api, await this.open(id), fromId);
  }

  async isLastBefore(id: SubscriptionId, fromId: bigint): Promise<boolean> {
    return isLastBefore(this.api, await this.open(id), fromId);
  }
}

export function numbersTo(count: number, from = 1): number[] {
  return Array.from({ length: Math.max(0, count - from + 1) }, (_, index) => from + index);
}
