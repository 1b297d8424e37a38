import { appendEvent } from '@deedwire/actions/use-case';
import type { AccountId, GidContext } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { referralCreated, referralDeclined } from '../src/events/index.ts';

// The compiler checks this file. Nothing runs it.

declare const transaction: Transaction;
declare const account: { id: AccountId; interfaceName: string };
declare const context: GidContext;

const referral = { id: 'gid://service/Referral/1', status: 'OPEN' as const, externalReference: null };

void appendEvent(context, transaction, account, referralCreated, { referral });
// @ts-expect-error -- an event that nothing defines
void appendEvent(context, transaction, account, 'referral.lost', { referral });
// @ts-expect-error -- a snapshot without a field
void appendEvent(context, transaction, account, referralDeclined, { referral, reason: null });
// @ts-expect-error -- a field that the snapshot does not have
void appendEvent(context, transaction, account, referralCreated, { referral, note: '' });
// @ts-expect-error -- a value that the field does not have
void appendEvent(context, transaction, account, referralCreated, { referral: { ...referral, status: 'LOST' } });
