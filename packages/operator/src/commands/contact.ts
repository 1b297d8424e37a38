import { type ContactEmail, listContactEmailsOfAccount, updateContactEmailsOfAccount } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { accountOption } from '../gid.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, tableFor, type OutputOptions } from '../verb.ts';

interface UpdateOptions extends OutputOptions {
  account: string;
  email?: string[];
  none?: true;
}

export function addContactCommands(program: Command, shell: Shell): void {
  const noun = program
    .command('contact')
    .description('manage the contact addresses of accounts, which get mails about trouble');

  addVerb(noun, 'list', 'list the contact addresses of an account, and whether they get mails')
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .addHelpText('after', notes(`\n  ${operatorCommand()} contact list --account Customer/4711`))
    .action(async (options: OutputOptions & { account: string }) => {
      const contacts = await withContext(shell, (context) => listContactEmailsOfAccount(context, options.account));
      print(shell, options, contacts, (found) => describe(shell, found));
    });

  addVerb(
    noun,
    'update',
    'replace the contact addresses of an account; each new one gets a link by mail with which to agree',
  )
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .option('--email <address...>', 'the addresses that the account will have, at most 5')
    .option('--none', 'remove all')
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} contact update --account Customer/4711 --email it@example.com --email ops@example.com

An address that the account already has keeps its state. One that is not confirmed yet gets another link, unless it got one within 10
minutes. An account can ask for 10 confirmations within 24 hours, and all accounts together for 3 of one address.

It needs a worker with PORTAL_ORIGIN, SMTP_URL and SMTP_FROM.`),
    )
    .action(async (options: UpdateOptions, command: Command) => {
      const { account: accountId, email: emails = [], none } = options;
      if ((emails.length === 0) !== (none === true)) command.error('error: pass either --email or --none');
      const contacts = await withContext(shell, (context) =>
        updateContactEmailsOfAccount(context, { accountId, emails }),
      );
      print(shell, options, contacts, (found) => describe(shell, found));
    });
}

function describe(shell: Shell, contacts: readonly ContactEmail[]): string {
  if (contacts.length === 0) return 'The account has no contact addresses';
  return tableFor(shell, contacts, {
    address: ({ email }) => email,
    confirmed: ({ confirmedAt }) => confirmedAt,
    'refused by its server': ({ stoppedAt }) => stoppedAt,
    'unsubscribed from': ({ unsubscribedFrom }) => unsubscribedFrom.join(' ') || null,
  });
}
