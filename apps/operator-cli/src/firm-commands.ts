import { addLenderCommands } from './commands/lender.ts';
import { addMemberCommands } from './commands/member.ts';
import { addReferralCommands } from './commands/referral.ts';
import type { AddCommands } from './run-operator.ts';

/** The commands of the law firm. */
export const firmCommands: readonly AddCommands[] = [addLenderCommands, addMemberCommands, addReferralCommands];
