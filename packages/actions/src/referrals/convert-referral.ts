import { formatGid, formatMatterReference } from '@deedwire/domain';
import { insertMatter, reserveMatterNumber } from '@deedwire/store/matters';
import { closeReferral } from '@deedwire/store/referrals';
import { appendAuditEntry } from '../append-audit-entry.ts';
import { appendEvent } from '../append-event.ts';
import type { OperatorContext } from '../context.ts';
import { lockOpenReferral } from './lock-open-referral.ts';

/**
 * Converts an open referral into a matter. Appends `referral.converted`.
 *
 * @throws {RefusedError} `NOT_FOUND` if the referral does not exist, `CONFLICT` if it is closed
 */
export async function convertReferral(
  context: OperatorContext,
  input: { referralId: string },
): Promise<{ referralId: string; matterId: string }> {
  const matterId = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'CONVERTED', reason: null });
    const { number, openedAt } = await reserveMatterNumber(transaction);
    const reference = formatMatterReference(number, openedAt);
    const { id } = await insertMatter(transaction, referral.id, { reference, openedAt });
    const matterGid = formatGid(context.gidNamespace, 'Matter', id);
    const account = { id: referral.accountId, interfaceName: 'partner' } as const;
    await appendEvent(transaction, account, 'referral.converted', {
      referral: { id: input.referralId, status: 'CONVERTED', externalReference: referral.externalReference },
      matter: { id: matterGid, reference, openedAt: openedAt.toISOString() },
      convertedAt: closedAt.toISOString(),
    });
    await appendAuditEntry(transaction, context.operator, {
      action: 'referral.convert',
      subject: input.referralId,
      account,
      details: { matterId: matterGid },
    });
    return matterGid;
  });
  return { referralId: input.referralId, matterId };
}
