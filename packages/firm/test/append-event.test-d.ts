import { appendEvent } from '@deedwire/actions/use-case';
import type { AccountId, RecordId } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { referralCreated, referralDeclined } from '../src/events/index.ts';

// The compiler checks this file. Nothing runs it.

declare const transaction: Transaction;
declare const account: { id: AccountId; interfaceName: string };
declare const referralId: RecordId<'Referral'>;
declare const matterId: RecordId<'Matter'>;

const referral = { id: 'gid://service/Referral/1', status: 'OPEN' as const, externalReference: null };

void appendEvent(transaction, account, referralCreated, referralId, { referral });
// @ts-expect-error -- an event that nothing defines
void appendEvent(transaction, account, 'referral.lost', referralId, { referral });
// @ts-expect-error -- the id of another record
void appendEvent(transaction, account, referralCreated, matterId, { referral });
// @ts-expect-error -- a snapshot without a field
void appendEvent(transaction, account, referralDeclined, referralId, { referral, reason: null });
// @ts-expect-error -- a field that the snapshot does not have
void appendEvent(transaction, account, referralCreated, referralId, { referral, note: '' });
// @ts-expect-error -- a value that the field does not have
void appendEvent(transaction, account, referralCreated, referralId, { referral: { ...referral, status: 'LOST' } });
