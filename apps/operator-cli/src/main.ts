#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addAuditCommands } from './commands/audit.ts';
import { addClientCommands } from './commands/client.ts';
import { addCredentialCommands } from './commands/credential.ts';
import { addDatabaseCommands } from './commands/database.ts';
import { addDeliveryCommands } from './commands/delivery.ts';
import { addLenderCommands } from './commands/lender.ts';
import { addMemberCommands } from './commands/member.ts';
import { addOrganizationCommands } from './commands/organization.ts';
import { addPartnerCommands } from './commands/partner.ts';
import { addReferralCommands } from './commands/referral.ts';

const exitCodes = { failed: 1, wrongUsage: 2 };

const program = new Command('deedwire-operator')
  .description(
    'Manage accounts, credentials, referrals and the database. Uses DATABASE_URL, or the database of a running `pnpm dev`.',
  )
  .showHelpAfterError()
  .exitOverride();

addOrganizationCommands(program);
addLenderCommands(program);
addMemberCommands(program);
addPartnerCommands(program);
addClientCommands(program);
addCredentialCommands(program);
addReferralCommands(program);
addDeliveryCommands(program);
addAuditCommands(program);
addDatabaseCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  // Commander has already written its message. Its exit code is 0 after `--help`.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUsage;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const because = cause === '' ? '' : ` (${cause})`;
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}${because}\n`);
  return exitCodes.failed;
}
