import { createPortalLinkOfAccount, listPortalSessions, revokePortalSession } from '@deedwire/actions';
import { operatorCommand, portalAbilities, type PortalAbility } from '@deedwire/core';
import type { Command } from 'commander';
import { abilityOption } from '../ability-option.ts';
import { examplesOf } from '../examples.ts';
import { accountOption, gidArgument, gidOption } from '../gid.ts';
import { afterDescription, limitOption, type Window } from '../limit.ts';
import { chooseOrigin, originOption } from '../portal-origin.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { parseDuration } from '../time-options.ts';
import { addVerb, advise, notes, print, printList, type OutputOptions } from '../verb.ts';

interface LinkOptions extends OutputOptions {
  account: string;
  ability?: PortalAbility[];
  actor?: string;
  returnUrl?: string;
  subscription?: string;
  expiresIn: number;
  origin?: string;
}

export function addPortalCommands(program: Command, shell: Shell): void {
  const noun = program.command('portal').description('open the portal for an account, and end its sessions');

  addVerb(noun, 'link', 'create a link that opens the portal of an account once, and print it')
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .addOption(
      abilityOption(
        portalAbilities,
        'what the session may do besides READ, which sees no payloads; for MANAGE_KEYS, see `credential invite`',
      ),
    )
    .option('--actor <id>', 'who uses the session, for the audit log; defaults to your name')
    .option('--return-url <url>', 'the URL to which the portal links back')
    .addOption(gidOption(shell, 'subscription', 'the page that opens first', 'WebhookSubscription'))
    .option('--expires-in <duration>', 'how long the link can be opened, 60s to 10m', parseDuration, 300)
    .addOption(originOption())
    .addHelpText(
      'after',
      notes(`\n  ${operatorCommand()} portal link --account ${examplesOf(shell).account} --ability OPERATE`),
    )
    .action(async (options: LinkOptions) => {
      const {
        account: accountId,
        ability: abilities = ['READ'],
        returnUrl,
        subscription: subscriptionId,
        expiresIn,
      } = options;
      const link = await withContext(shell, (context, { PORTAL_ORIGIN }) => {
        const portalOrigin = chooseOrigin(options.origin, PORTAL_ORIGIN);
        const input = {
          accountId,
          returnUrl,
          subscriptionId,
          abilities,
          actor: options.actor ?? context.operator.name,
          expiresInSeconds: expiresIn,
        };
        return createPortalLinkOfAccount({ ...context, portalOrigin }, input);
      });
      advise(
        shell,
        options,
        `Open this link once, until ${link.expiresAt.toISOString()}. It gives access to the account.`,
      );
      print(shell, options, link, ({ url }) => url);
    });

  const sessions = noun.command('session').description('sessions of the portal');

  addVerb(sessions, 'list', 'list the sessions that have not ended, and the invites that were not used, newest first')
    .addOption(accountOption(shell, 'only those of this account'))
    .addOption(limitOption())
    .addOption(gidOption(shell, 'after', afterDescription, 'PortalSession'))
    .addHelpText('after', notes(`\n  ${operatorCommand()} portal session list --account ${examplesOf(shell).account}`))
    .action(async (options: OutputOptions & Window & { account?: string }) => {
      await printList(shell, options, {
        name: 'portalSessions',
        read: (context, request) => listPortalSessions(context, { accountId: options.account ?? null, ...request }),
        id: (row) => row.id,
        columns: {
          session: (row) => row.id,
          account: (row) => row.accountId,
          actor: (row) => row.actor,
          'invited to keys of': (row) => row.invitedAbilities && row.keyClient,
          'keys may': (row) => row.invitedAbilities?.join(' ') ?? null,
          abilities: (row) => row.abilities.join(' '),
          'last used': (row) => row.lastUsedAt,
          expires: (row) => row.expiresAt,
          started: (row) => row.startedAt,
          key: (row) => row.keyId,
        },
        fixed: { account: options.account },
        empty: `No sessions match. Open one: ${operatorCommand()} portal link --help`,
      });
    });

  addVerb(
    sessions,
    'revoke',
    'end a session, or a link that was not opened; every interface refuses it within a second',
  )
    .addArgument(gidArgument(shell, 'PortalSession'))
    .action(async (sessionId: string, options: OutputOptions) => {
      const revoked = await withContext(shell, (context) => revokePortalSession(context, { sessionId }));
      print(shell, options, revoked, () => `The session ${sessionId} has ended`);
    });
}
