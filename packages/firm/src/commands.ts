import type { AddCommands } from '@deedwire/operator';
import { addLenderCommands } from './lender/lender-commands.ts';
import { addReferralCommands } from './referrals/referral-commands.ts';
import { addMemberCommands } from './team/member-commands.ts';

/** The commands of the law firm. */
export const firmCommands: readonly AddCommands[] = [addLenderCommands, addMemberCommands, addReferralCommands];
