import {
  addVerb,
  afterDescription,
  gidArgument,
  gidOption,
  limitOption,
  notes,
  type OutputOptions,
  print,
  printList,
  type Shell,
  type Window,
  withContext,
} from '@deedwire/operator';
import type { Command } from 'commander';
import {
  addTeamMember,
  listMembersOfLender,
  removeTeamMember,
  repeatRemoval,
  updateTeamMember,
  type TeamMember,
} from './team-members.ts';

interface MemberOptions extends OutputOptions {
  firstName?: string;
  lastName?: string;
  email?: string;
}

export function addMemberCommands(program: Command, shell: Shell): void {
  shell.deletions.set('TeamMember', repeatRemoval);
  const noun = program.command('member').description('manage the team members of lenders');

  addVerb(noun, 'add', 'add a team member to a lender')
    .addOption(gidOption(shell, 'lender', 'the lender', 'Lender').makeOptionMandatory())
    .requiredOption('--first-name <name>', 'the first name')
    .requiredOption('--last-name <name>', 'the last name')
    .requiredOption('--email <address>', 'the email address')
    .action(async (options: OutputOptions & Required<Omit<MemberOptions, 'json'>> & { lender: string }) => {
      const { lender: lenderId, firstName, lastName, email } = options;
      const added = await withContext(shell, (context) =>
        addTeamMember(context, { lenderId, firstName, lastName, email }),
      );
      print(shell, options, added, (member) => `Added ${describe(member)}`);
    });

  addVerb(noun, 'list', 'list the team members of a lender, oldest first')
    .addOption(gidOption(shell, 'lender', 'the lender', 'Lender').makeOptionMandatory())
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'TeamMember'))
    .addHelpText('after', notes('\n  deedwire-operator member list --lender Lender/4711'))
    .action(async (options: OutputOptions & Window & { lender: string }) => {
      await printList(shell, options, {
        name: 'members',
        read: (context, request) => listMembersOfLender(context, { lenderId: options.lender, ...request }),
        id: (row) => row.id,
        columns: {
          member: (row) => row.id,
          'first name': (row) => row.firstName,
          'last name': (row) => row.lastName,
          email: (row) => row.email,
        },
        empty: 'The lender has no team members. Add one: deedwire-operator member add --help',
      });
    });

  addVerb(noun, 'update', 'change the details of a team member; omitted details stay unchanged')
    .addArgument(gidArgument(shell, 'TeamMember'))
    .option('--first-name <name>', 'the new first name')
    .option('--last-name <name>', 'the new last name')
    .option('--email <address>', 'the new email address')
    .action(async (teamMemberId: string, { json, ...details }: MemberOptions, command: Command) => {
      if (Object.keys(details).length === 0)
        command.error('error: set at least one of --first-name, --last-name and --email');
      const updated = await withContext(shell, (context) => updateTeamMember(context, { teamMemberId, ...details }));
      print(shell, { ...(json && { json }) }, updated, (member) => `Updated ${describe(member)}`);
    });

  addVerb(noun, 'remove', 'remove a team member')
    .addArgument(gidArgument(shell, 'TeamMember'))
    .action(async (teamMemberId: string, options: OutputOptions) => {
      const removed = await withContext(shell, (context) => removeTeamMember(context, { teamMemberId }));
      print(shell, options, removed, (member) => `Removed ${describe(member)}`);
    });
}

function describe({ id, firstName, lastName, email }: TeamMember): string {
  return `${firstName} ${lastName} <${email}>: ${id}`;
}
