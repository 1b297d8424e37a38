import {
  type Credential,
  expireCredential,
  inviteToKeys,
  issueCredential,
  type KeyInvite,
  listCredentials,
  revokeCredential,
  rotateCredential,
  type IssuedCredential,
} from '@deedwire/actions';
import {
  abilities,
  type Ability,
  areUsual,
  type InterfaceName,
  interfaceOf,
  operatorCommand,
  requestHeaders,
  withArticles,
} from '@deedwire/core';
import type { Command } from 'commander';
import { abilityOption } from '../ability-option.ts';
import { examplesOf } from '../examples.ts';
import { accountOption } from '../gid.ts';
import { chooseOrigin, originOption } from '../portal-origin.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { futureTimes, parseDuration, parseFutureTime } from '../time-options.ts';
import { addVerb, advise, interfaceOption, notes, print, tableFor, type OutputOptions } from '../verb.ts';

interface AccountOptions extends OutputOptions {
  interface?: InterfaceName;
  account: string;
}

interface IssueOptions extends AccountOptions {
  client?: string;
  schemaVersion?: string;
  name?: string;
  ability?: Ability[];
  address?: string[];
  expires?: Date;
}

interface InviteOptions extends AccountOptions {
  client?: string;
  ability?: Ability[];
  expiresIn: number;
  origin?: string;
}

interface RotateOptions extends OutputOptions {
  overlap: number;
  ability?: Ability[];
  expires?: Date;
}

export function addCredentialCommands(program: Command, shell: Shell): void {
  const noun = program.command('credential').description('manage the API keys of clients');

  addVerb(noun, 'issue', 'issue an API key and print it once')
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .addOption(interfaceOption(shell))
    .hook('preAction', (command) => checkInterface(shell, command))
    .option('--client <id>', 'issue the key to this client; defaults to a new client')
    .option('--schema-version <date>', 'pin the new client to this version; defaults to the current version')
    .option('--name <name>', 'what the key is called, for its owner')
    .addOption(abilityOption(abilities, 'what the key may do besides READ; defaults to all but MANAGE_KEYS'))
    .option('--address <network...>', 'accept the key only from these addresses and networks, such as 192.0.2.0/24')
    .option('--expires <time>', `reject the key from this time on: ${futureTimes}; defaults to never`, parseFutureTime)
    .action(async (options: IssueOptions) => {
      const input = {
        interfaceName: options.interface,
        accountId: options.account,
        clientId: options.client ?? null,
        schemaVersion: options.schemaVersion ?? null,
        name: options.name ?? null,
        abilities: options.ability,
        addresses: options.address ?? null,
        expiresAt: options.expires ?? null,
      };
      const issued = await withContext(shell, (context) => issueCredential(context, input));
      printIssued(shell, options, issued);
    });

  addVerb(noun, 'invite', 'create a link with which a person of the account creates a key, and print it')
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .addOption(interfaceOption(shell))
    .hook('preAction', (command) => checkInterface(shell, command))
    .option('--client <id>', 'manage the keys of this client; defaults to a new client without a key')
    .addOption(abilityOption(abilities, 'what the keys may do at most besides READ; defaults to all'))
    .option('--expires-in <duration>', 'how long the link can be opened, 1h to 7d', parseDuration, 86_400)
    .addOption(originOption())
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} credential invite --account ${examplesOf(shell).account}

No key travels by mail: the person who opens the link creates it in the portal, and alone sees its secret. The link works
once. Its session lasts 8 hours at most, and manages the keys of this client. See whether and from where it was opened:
${operatorCommand()} portal session list --account, and the entry portal_session.start of the audit log.
To end it: ${operatorCommand()} portal session revoke.`),
    )
    .action(async (options: InviteOptions) => {
      const invite = await withContext(shell, (context, { PORTAL_ORIGIN }) =>
        inviteToKeys(
          { ...context, portalOrigin: chooseOrigin(options.origin, PORTAL_ORIGIN) },
          {
            interfaceName: options.interface,
            accountId: options.account,
            clientId: options.client ?? null,
            abilities: options.ability,
            expiresInSeconds: options.expiresIn,
          },
        ),
      );
      printInvite(shell, options, invite);
    });

  addVerb(
    noun,
    'rotate <keyId>',
    'issue another API key to the client of a key, and expire the old one after an overlap',
  )
    .option('--overlap <duration>', 'how long both keys are accepted, 0 to 30d', parseDuration, 86_400)
    .addOption(abilityOption(abilities, 'what the new key may do besides READ; defaults to what the old one may do'))
    .option(
      '--expires <time>',
      `reject the new key from this time on: ${futureTimes}; defaults to never`,
      parseFutureTime,
    )
    .action(async (keyId: string, options: RotateOptions) => {
      const { overlap: overlapSeconds, ability, expires: expiresAt = null } = options;
      const input = { keyId, overlapSeconds, abilities: ability, expiresAt };
      const issued = await withContext(shell, (context) => rotateCredential(context, input));
      printIssued(shell, options, issued);
    });

  addVerb(noun, 'expire <keyId>', 'expire an API key; every interface rejects it within a second')
    .option('--at <time>', `reject the key from this time on: ${futureTimes}; defaults to now`, parseFutureTime)
    .action(async (keyId: string, options: OutputOptions & { at?: Date }) => {
      const expired = await withContext(shell, (context) =>
        expireCredential(context, { keyId, expiresAt: options.at ?? null }),
      );
      print(shell, options, expired, ({ expiresAt }) => `The key ${keyId} is rejected from ${expiresAt.toISOString()}`);
    });

  addVerb(noun, 'list', 'list the API keys of an account, without their secrets')
    .addOption(accountOption(shell, 'the account').makeOptionMandatory())
    .addOption(interfaceOption(shell))
    .hook('preAction', (command) => checkInterface(shell, command))
    .action(async (options: AccountOptions) => {
      const input = { interfaceName: options.interface, accountId: options.account };
      const listed = await withContext(shell, (context) => listCredentials(context, input));
      print(shell, options, listed, (credentials) =>
        tableFor(shell, credentials, {
          key: (row) => row.keyId,
          name: (row) => row.name,
          abilities: (row) => (areUsual(row.abilities) ? 'all but MANAGE_KEYS' : row.abilities.join(' ')),
          client: (row) => row.clientId,
          'last used': (row) => row.lastUsedAt,
          from: (row) => row.lastUsedFrom,
          expires: (row) => row.expiresAt,
          revoked: (row) => row.revokedAt,
          version: (row) => row.schemaVersion,
          created: (row) => row.createdAt,
          by: (row) => describeCreator(row),
          addresses: (row) => row.addresses?.join(' ') ?? null,
          points: (row) => row.costMaximum,
          'per second': (row) => row.costRestoreRate,
        }),
      );
    });

  addVerb(noun, 'revoke <keyId>', 'revoke an API key; every interface rejects it within a second').action(
    async (keyId: string, options: OutputOptions) => {
      const revoked = await withContext(shell, (context) => revokeCredential(context, { keyId }));
      print(shell, options, revoked, ({ revokedAt }) => `Revoked the key ${keyId} at ${revokedAt.toISOString()}`);
    },
  );
}

/** The account says which interface it belongs to, unless it is a number or an id of the application. */
function checkInterface({ service }: Shell, command: Command): void {
  const { account, interface: interfaceName }: AccountOptions = command.opts();
  const type = /^gid:.*\/(\w+)\/\d+$/.exec(account)?.[1];
  if (type !== undefined && interfaceName !== undefined && type !== interfaceOf(service, interfaceName).account)
    command.error(
      `error: ${account} is ${withArticles([type])}. Omit --interface, or pass an account of the ${interfaceName} interface.`,
    );
}

/** Who created a key, for its row. */
function describeCreator({ createdByKey, createdByActor }: Credential): string {
  return [createdByKey ?? 'an operator', ...(createdByActor === null ? [] : [`(${createdByActor})`])].join(' ');
}

function printInvite(shell: Shell, options: OutputOptions, invite: KeyInvite): void {
  const { sessionId, expiresAt, clientId, abilities: atMost } = invite;
  advise(
    shell,
    options,
    [
      `Send this link to a person who may hold the keys of ${clientId}. It works once, until ${expiresAt.toISOString()}.`,
      `Its session can create keys with ${atMost.join(' ')}, and revoke those of the client.`,
      `To end it: ${operatorCommand()} portal session revoke ${sessionId.split('/').at(-1)}`,
    ].join('\n'),
  );
  print(shell, options, invite, ({ url }) => url);
}

function printIssued(shell: Shell, options: OutputOptions, issued: IssuedCredential): void {
  const headers = requestHeaders(shell.service);
  advise(shell, options, 'Store the API key now. It cannot be shown again.');
  print(shell, options, issued, ({ clientId, apiKey, organizationId }) =>
    [
      `${headers.clientId}: ${clientId}`,
      `${headers.apiKey}: ${apiKey}`,
      `${headers.organizationId}: ${organizationId}`,
    ].join('\n'),
  );
}
