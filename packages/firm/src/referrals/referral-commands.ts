import {
  addVerb,
  afterDescription,
  gidArgument,
  gidOption,
  limitOption,
  type OutputOptions,
  print,
  printList,
  type Shell,
  type Window,
  withContext,
} from '@deedwire/operator';
import { Option, type Command } from 'commander';
import { convertReferral } from './convert-referral.ts';
import { createReferralForPartner } from './create-referral.ts';
import { declineReferral } from './decline-referral.ts';
import { type ReferralStatus, referralStatuses } from './referral.ts';
import { listReferralsOfPartner } from './referrals.ts';

interface CreateOptions extends OutputOptions {
  partner: string;
  clientName: string;
  clientEmail?: string;
  externalReference?: string;
  note?: string;
}

interface ListOptions extends OutputOptions, Window {
  partner: string;
  status?: ReferralStatus;
}

export function addReferralCommands(program: Command, shell: Shell): void {
  const noun = program.command('referral').description('manage the referrals of partners');

  addVerb(noun, 'create', 'create a referral on behalf of a partner')
    .addOption(gidOption(shell, 'partner', 'the partner', 'Partner').makeOptionMandatory())
    .requiredOption('--client-name <name>', 'the name of the referred client')
    .option('--client-email <address>', 'the email address of the referred client')
    .option('--external-reference <text>', 'the partner’s own reference')
    .option('--note <text>', 'a note of the partner')
    .action(async (options: CreateOptions) => {
      const created = await withContext(shell, (context) =>
        createReferralForPartner(context, {
          partnerId: options.partner,
          clientName: options.clientName,
          clientEmail: options.clientEmail ?? null,
          externalReference: options.externalReference ?? null,
          note: options.note ?? null,
        }),
      );
      print(shell, options, created, ({ id, clientName }) => `Created the referral of ${clientName}: ${id}`);
    });

  addVerb(noun, 'convert', 'convert an open referral into a matter')
    .addArgument(gidArgument(shell, 'Referral'))
    .action(async (referralId: string, options: OutputOptions) => {
      const converted = await withContext(shell, (context) => convertReferral(context, { referralId }));
      print(shell, options, converted, ({ matterId }) => `Converted ${referralId} into ${matterId}`);
    });

  addVerb(noun, 'decline', 'decline an open referral')
    .addArgument(gidArgument(shell, 'Referral'))
    .option('--reason <text>', 'shown to the partner')
    .action(async (referralId: string, options: OutputOptions & { reason?: string }) => {
      const input = { referralId, reason: options.reason ?? null };
      const declined = await withContext(shell, (context) => declineReferral(context, input));
      print(shell, options, declined, () => `Declined ${referralId}`);
    });

  addVerb(noun, 'list', 'list the referrals of a partner, newest first')
    .addOption(gidOption(shell, 'partner', 'the partner', 'Partner').makeOptionMandatory())
    .addOption(new Option('--status <status>', 'filter by status').choices(referralStatuses))
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'Referral'))
    .action(async (options: ListOptions) => {
      const filter = { partnerId: options.partner, status: options.status ?? null };
      await printList(shell, options, {
        name: 'referrals',
        read: (context, request) => listReferralsOfPartner(context, { ...filter, ...request }),
        id: (row) => row.id,
        columns: {
          referral: (row) => row.id,
          status: (row) => row.status,
          client: (row) => row.clientName,
          created: (row) => row.createdAt,
          matter: (row) => row.matter?.id ?? null,
          'external reference': (row) => row.externalReference,
        },
        fixed: { status: options.status },
        empty: 'No referrals match. Create one: deedwire-operator referral create --help',
      });
    });
}
