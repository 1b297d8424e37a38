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
import { addSecretsCommands } from './commands/secrets.ts';
import { addSubscriptionCommands } from './commands/subscription.ts';
import type { Shell } from './shell.ts';

const exitCodes = { succeeded: 0, failed: 1, wrongUsage: 2 };

/** Runs a command line without the program name. Returns the exit code. */
export async function runOperator(shell: Shell, commandArguments: readonly string[]): Promise<number> {
  try {
    await createProgram(shell).parseAsync(commandArguments, { from: 'user' });
    return exitCodes.succeeded;
  } catch (error) {
    return report(shell, error);
  }
}

function createProgram(shell: Shell): Command {
  const program = new Command('deedwire-operator')
    .description(
      'Manage accounts, credentials, referrals, webhook subscriptions, secrets and the database. Uses DATABASE_URL, or the database of a running `pnpm dev`.',
    )
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    });
  addOrganizationCommands(program, shell);
  addLenderCommands(program, shell);
  addMemberCommands(program, shell);
  addPartnerCommands(program, shell);
  addClientCommands(program, shell);
  addCredentialCommands(program, shell);
  addReferralCommands(program, shell);
  addSubscriptionCommands(program, shell);
  addDeliveryCommands(program, shell);
  addSecretsCommands(program, shell);
  addAuditCommands(program, shell);
  addDatabaseCommands(program, shell);
  return program;
}

function report({ stderr }: Shell, error: unknown): number {
  // Commander has already written its message. Its exit code is 0 after `--help`.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.succeeded : exitCodes.wrongUsage;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const because = cause === '' ? '' : ` (${cause})`;
  stderr.write(`error: ${error instanceof Error ? error.message : String(error)}${because}\n`);
  return exitCodes.failed;
}
