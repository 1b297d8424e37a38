import type { Logger } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import {
  deleteExpiredIdempotencyKeys,
  deleteExpiredPortalSessions,
  deleteOldUse,
  forgetContacts,
  forgetEndedApiKeys,
  maintainAuditLog,
  reportExpiringApiKeys,
} from '@deedwire/store/housekeeping';
import { deleteUnreadListeners, endRotations } from '@deedwire/webhooks';
import type { LoopHealth } from './loop-health.ts';
import { createLoop, type Loop } from './loop.ts';

// Small enough to hold its locks for milliseconds.
const batchSize = 1_000;

/**
 * Deletes idempotency keys after 24 hours, listeners that were not read for 24 hours, sessions of the portal a day after their end,
 * API keys 90 days after their end, contact addresses that were not confirmed within 7 days, old mails and tokens, counts of the use of
 * versions after 400 days, and entries of the audit log after their retention. Completes rotations of webhook secrets that have ended,
 * and reports API keys that will expire.
 */
export function createHousekeeping(options: {
  store: Store;
  logger: Logger;
  loops: LoopHealth;
  auditRetentionDays: number;
}): Loop {
  const { store, logger, auditRetentionDays } = options;
  return createLoop('housekeeping', options, async () => {
    while ((await endRotations(store, batchSize)) === batchSize);
    while ((await deleteExpiredIdempotencyKeys(store, batchSize)) === batchSize);
    while ((await deleteExpiredPortalSessions(store, batchSize)) === batchSize);
    while ((await deleteOldUse(store, batchSize)) === batchSize);
    while ((await forgetContacts(store, batchSize)) === batchSize);
    while ((await forgetEndedApiKeys(store, batchSize)) === batchSize);
    while ((await store.transaction((transaction) => reportExpiringApiKeys(transaction, batchSize))) === batchSize);
    await deleteListeners(store, logger);
    for (const { created, dropped } of await maintainAuditLog(store, auditRetentionDays)) {
      logger.info({ created, dropped }, 'audit log partition changed');
    }
  });
}

async function deleteListeners(store: Store, logger: Logger): Promise<void> {
  for (let deleted = batchSize; deleted === batchSize;) {
    deleted = await store.transaction((transaction) => deleteUnreadListeners(transaction, batchSize));
    if (deleted > 0) logger.info({ listeners: deleted }, 'unread listeners deleted');
  }
}
