import { type AccountId, toRecordId } from '@deedwire/core';
import { createStore } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import type { SubscriptionId } from '@deedwire/webhooks/tables';
import { createServiceDatabase, createPastPartitions } from '@deedwire/webhooks/test-support';

const open = async (databaseUrl: string) => forFile(createStore({ databaseUrl, applicationName: 'test' }));

/** Opens, for the file that calls it, a database with 38 past days, in which it inserts deliveries with ids of its choice. */
export async function openPastDays() {
  const database = await forFile(createServiceDatabase());
  const superuser = await forFile(connect(database.databaseUrl));
  await createPastPartitions(superuser, 38);
  return {
    superuser,
    store: await open(database.databaseUrl),
    api: await open(await database.urlFor('customer_api')),
    operator: await open(await database.urlFor('operator')),
    insertSubscription: async (accountId: AccountId, number: bigint): Promise<SubscriptionId> => {
      const id = toRecordId<'WebhookSubscription'>(String(number));
      await superuser.run(
        `with subscription as (
           insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
           values ($1, $2, 'customer', 'https://a.test/', '', 0)
         )
         insert into webhook_subscription_sequence (subscription_id, interface) values ($1, 'customer')`,
        [id, accountId],
      );
      return id;
    },
  };
}
