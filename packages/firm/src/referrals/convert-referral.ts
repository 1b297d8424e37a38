import type { OperatorContext } from '@deedwire/actions';
import { appendAuditEntry, appendEvent } from '@deedwire/actions/use-case';
import { formatGid } from '@deedwire/core';
import { referralConverted } from '../events/referral.converted/event.ts';
import { formatMatterReference } from '../matters/matter-reference.ts';
import { insertMatter, reserveMatterNumber } from '../matters/matter-statements.ts';
import { lockOpenReferral } from './lock-open-referral.ts';
import { closeReferral } from './referral-statements.ts';

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
    const reserved = await reserveMatterNumber(transaction);
    const { openedAt } = reserved;
    const reference = formatMatterReference(reserved);
    const { id } = await insertMatter(transaction, referral.id, { reference, openedAt });
    const matterGid = formatGid(context.gidNamespace, 'Matter', id);
    const account = { id: referral.accountId, interfaceName: 'partner' } as const;
    await appendEvent(context, transaction, account, referralConverted, {
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
