import {
  findFirstNumbered,
  type PulledSubscription,
  type PullPosition,
  readNumberedPage,
  selectEventBodies,
  selectPulledSubscription,
} from '@deedwire/actions/webhooks';
import { type AccountId, idAt, type RecordId, toRecordId } from '@deedwire/domain';
import { onlyRow } from '@deedwire/store';
import { createBenchStore } from '../postgres.ts';
import type { Defer } from '../with-cleanup.ts';

export const pageSize = 100;
/** Pages read no delivery that is more than a day older than its subscription. */
export const historyHours = 20;

/** Reads the events of an account with one subscription by the statements of `webhookEvents`. */
export interface PageReader {
  /** Where the list begins that starts at a time. */
  start(hoursAgo: number): Promise<{ position: PullPosition; ms: number }>;
  /** A page of 100 events with their bodies. `next` is null if there are fewer. */
  page(position: PullPosition): Promise<{ next: PullPosition | null; ms: number }>;
}

export async function createPageReader(databaseUrl: string, account: AccountId, defer: Defer): Promise<PageReader> {
  const store = createBenchStore(databaseUrl);
  defer(() => store.close());
  const text = 'select id from webhook_subscription where account_id = $1';
  const { id } = onlyRow(await store.query<{ id: string }>({ name: 'bench-subscription-of', text }, [account]));
  const subscriptionId: RecordId<'WebhookSubscription'> = toRecordId(id);

  async function open(): Promise<PulledSubscription> {
    const subscription = await selectPulledSubscription(store, account, subscriptionId, 'PUSH');
    if (subscription === null) throw new Error('There is no subscription.');
    return subscription;
  }

  return {
    async start(hoursAgo) {
      const subscription = await open();
      const fromId = BigInt(idAt(new Date(Math.floor(subscription.now.getTime() - hoursAgo * 3_600_000))));
      const startMs = performance.now();
      const first = await findFirstNumbered(store, subscription, fromId);
      const ms = performance.now() - startMs;
      if (first?.isProven !== true) throw new Error('The beginning is not proven.');
      return { position: { sequence: first.sequence - 1, fromId }, ms };
    },

    async page(position) {
      const startMs = performance.now();
      const subscription = await open();
      const { rows } = await readNumberedPage(store, subscription, position, pageSize);
      const { bodies, isMissing } = await selectEventBodies(store, rows, subscription.expiredBefore);
      const ms = performance.now() - startMs;
      if (isMissing || bodies.length < rows.length) throw new Error('The page is not whole.');
      const last = rows.length < pageSize ? undefined : rows.at(-1);
      return { next: last === undefined ? null : { sequence: last.sequence, fromId: BigInt(last.id) }, ms };
    },
  };
}
