import {
  advanceAllSequences,
  type OperatorsCheck,
  checkDatabase,
  type ProposedLogin,
  proposeLogins,
  setKeySelfService,
} from '@deedwire/actions';
import { isServiceName, operatorCommand } from '@deedwire/core';
import { type Migrated, type MigrateOptions, schemaVariable } from '@deedwire/store';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { addNumberOptions, describeAdvanced, readNumbers } from '../advanced-sequences.ts';
import { findDatabaseUrl } from '../database-url.ts';
import { migrateDatabase, withAnyDatabase, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, tableFor, type OutputOptions } from '../verb.ts';
import { addDatabaseCopied } from './database-copied.ts';
import { addDatabaseRestored } from './database-restored.ts';

export const cellMax = 1023;
const waitMinutesMax = 1440;
const defaultWaitMinutes = 10;

type ChosenOnce = Pick<MigrateOptions, 'cell' | 'rolePrefix' | 'schema'>;

export function addDatabaseCommands(program: Command, shell: Shell): void {
  const noun = program.command('database').description('manage the database');

  addVerb(noun, 'migrate', 'apply the migrations that this build needs')
    .option(
      '--cell <number>',
      `the number of this database in the ids of its records, 0 to ${cellMax}, for good (default: 0 for a new database)`,
      parseUpTo(cellMax, ''),
    )
    .option(
      '--schema <name>',
      'the schema of the tables, for good (default: DATABASE_SCHEMA, or deedwire for a new database)',
    )
    .option(
      '--role-prefix <prefix>',
      `what the names of the roles of the apps begin with, for good (default: ${shell.service.names.service}_ for a new database, and nothing in the schema public)`,
      parseRolePrefix,
    )
    .option(
      '--wait <minutes>',
      `how long to wait for locks that other sessions hold, 0 to ${waitMinutesMax}`,
      parseUpTo(waitMinutesMax, ' of minutes'),
      defaultWaitMinutes,
    )
    .addHelpText(
      'after',
      notes(`
A new database gets the cell, the schema and the prefix of the roles, and keeps them: with another one, the command changes nothing. It
creates the schema. A database that has the tables keeps their place. Roles belong to the cluster of databases: with a prefix, logins of another service have no right in this database.`),
    )
    .action(async (options: OutputOptions & ChosenOnce & { wait: number }) => {
      const { cell, schema, rolePrefix, wait } = options;
      const migrated = await migrateDatabase(shell, {
        ...(cell !== undefined && { cell }),
        ...(schema !== undefined && { schema }),
        ...(rolePrefix !== undefined && { rolePrefix }),
        waitMs: wait * 60_000,
      });
      print(shell, options, migrated, ({ place, isNew, ...done }) => {
        const lines = [
          ...(isNew ? [describePlace(place)] : []),
          ...done.applied.map((name) => `Applied ${name}`),
          ...done.addedInterfaces.map((name) => `Added the interface ${name}`),
          ...done.appliedOfApplication.map((name) => `Applied ${name} of the application`),
          ...(isNew ? [] : done.addedEvents.map((type) => `Added the event ${type}`)),
          ...done.optionalMembers.map(
            ({ type, members }) => `Snapshots of ${type} are now accepted without ${members.join(', ')}`,
          ),
        ];
        return lines.length === 0 ? 'Nothing to apply' : lines.join('\n');
      });
    });

  addVerb(noun, 'logins', 'print the SQL that creates a login for each app')
    .option('--prefix <name>', 'how the names of the logins start (default: the name of the database)')
    .option('--application <login>', 'also print what an application with this login needs to call our functions')
    .addHelpText(
      'after',
      notes(`
Changes nothing. Each call draws other passwords, so keep the output until each app has its URL:

  ${operatorCommand()} database logins > logins.sql
  psql "$DATABASE_URL" -f logins.sql

The login of an application exists already. It can read and write no table of Deedwire.`),
    )
    .action(async (options: OutputOptions & { prefix?: string; application?: string }) => {
      let needed = 'the login of the owner';
      const proposed = await withContext(shell, async (context, config) => {
        const { logins, ...others } = await proposeLogins(context, options);
        const withUrls = logins.map((login) => ({ ...login, databaseUrl: urlFor(findDatabaseUrl(config), login) }));
        // That one keeps its search path.
        if (config.DATABASE_SCHEMA !== undefined) needed += ` and ${schemaVariable(config.DATABASE_SCHEMA)}`;
        return { logins: withUrls, ...others };
      });
      print(shell, options, proposed, ({ logins, appsOfOwner, applicationSql }) =>
        [
          ...logins.map(({ app, sql, databaseUrl }) => `-- ${app}: DATABASE_URL=${databaseUrl ?? '…'}\n${sql}`),
          ...appsOfOwner.map((app) => `-- ${app}: the database has no role for it, so it needs ${needed}`),
          ...(applicationSql.length > 0 ? ['-- the application', ...applicationSql] : []),
        ].join('\n'),
      );
    });

  addVerb(noun, 'check', 'check what the apps check before they become ready')
    .addHelpText(
      'after',
      notes(`
Finds missing migrations, migrations after which this build no longer works, and missing partitions of the history.

An app does not become ready while its group role lacks a right that the migrations of its build grant, for example
after a restore without rights. Such a restore also lets every login call functions with the rights of the owner.

A copy of the rows of a database, such as a logical replica, does not copy its sequences. Workers do not start while the
next number of a sequence is not beyond the numbers that rows contain.

It lets the database grow by 8 MB, in a temporary table that is rolled back, unless it has found another problem, for example
that the database is a standby.

The exit code is 1 if anything is wrong. Warnings do not change it: workers that lack events of an interface that another one
knows, settings with which PostgreSQL can lose changes that it has acknowledged, such as fsync=off, publications that stop
writes, indexes of another version of a collation, a certificate of the database that ends within 14 days, and records of
an account with the same address.`),
    )
    .action(async (options: OutputOptions) => {
      const checked = await withAnyDatabase(shell, checkDatabase);
      const { sequences, missingRights, openFunctions, growthNotTried } = checked;
      // A database without the migrations of this build has no sequences to show.
      if (options.json || sequences.length > 0)
        print(shell, options, { ...checked, sharedAddresses: checked.sharedAddresses.map(sharedByName) }, () =>
          tableFor(shell, sequences, {
            sequence: ({ name }) => name,
            'last number': ({ lastNumber }) => lastNumber,
            'highest used': ({ highestUsed }) => highestUsed,
            state: ({ isBehind }) => (isBehind ? 'behind' : 'ok'),
          }),
        );
      // A program finds them in the result.
      if (!options.json) for (const warning of warningsOf(checked)) shell.stderr.write(`warning: ${warning}.\n`);
      if (!options.json && growthNotTried !== null)
        shell.stderr.write(`not tried: whether the database can grow, because ${growthNotTried}.\n`);
      const problems = checked.problems.map((problem) => problem.replace(/^t/, 'T'));
      if (missingRights.length > 0) {
        const statements = missingRights.map(({ sql }) => `  ${sql};`).join('\n');
        problems.push(`Group roles lack rights. Grant them with the login that ran the migrations:\n${statements}`);
      }
      if (openFunctions.length > 0) {
        const statements = openFunctions.map((name) => `  revoke execute on routine ${name} from public;`).join('\n');
        problems.push(
          `Every login may call functions with the rights of the owner. Run with the login that ran the migrations:\n${statements}`,
        );
      }
      const behind = sequences.filter(({ isBehind }) => isBehind).map(({ name }) => name);
      if (behind.length > 0)
        problems.push(
          `Sequences behind the rows of the database: ${behind.join(', ')}. Run \`${operatorCommand()} database advance-sequences\`.`,
        );
      if (problems.length > 0) throw new Error(problems.join('\n'));
    });

  addVerb(noun, 'key-self-service', 'let owners manage their API keys, or only operators')
    .addArgument(new Argument('<state>', 'on: keys and sessions with MANAGE_KEYS may').choices(['on', 'off']))
    .addHelpText(
      'after',
      notes(`
It is on in a new database. While it is off, createApiKey, rotateApiKey and revokeApiKey answer KEY_SELF_SERVICE_OFF.
Keys that owners have created stay.`),
    )
    .action(async (state: string, options: OutputOptions) => {
      const set = await withContext(shell, (context) => setKeySelfService(context, { isOn: state === 'on' }));
      print(shell, options, set, ({ keySelfService }) =>
        keySelfService
          ? 'Keys and sessions with MANAGE_KEYS may create, rotate and revoke API keys.'
          : 'Only operators may create, rotate and revoke API keys.',
      );
    });

  addNumberOptions(
    addVerb(noun, 'advance-sequences', 'advance the sequences that are behind the rows of the database'),
    shell,
  )
    .addHelpText(
      'after',
      notes(`
Stop all workers first. Events that were queued with low numbers are moved to the end of the queue, in their order, so
that they are delivered. Does nothing if no sequence is behind.

A restore to an earlier time, and a failover to a standby that lacked transactions, set sequences back too. No row shows
then which numbers were given out. \`database restored\` reads them in the old database. Without that, name the highest one of each
sequence that has an option here, so that none is given out again.`),
    )
    .action(async (options: OutputOptions, command: Command) => {
      const numbers = readNumbers(command, shell);
      const advanced = await withContext(shell, (context) => advanceAllSequences(context, numbers));
      print(shell, options, { advanced }, () =>
        advanced.length === 0 ? 'No sequence is behind' : describeAdvanced(advanced),
      );
    });

  addDatabaseCopied(noun, shell);
  addDatabaseRestored(noun, shell);
}

function describePlace({ schema, rolePrefix }: Migrated['place']): string {
  const roles = rolePrefix === '' ? 'roles without a prefix' : `roles whose names begin with ${rolePrefix}`;
  return `The tables are in the schema ${schema}, with ${roles}`;
}

/** The URL of the database for another login. Null if its URL has another form. */
function urlFor(databaseUrl: string, { login, password }: ProposedLogin): string | null {
  if (!URL.canParse(databaseUrl)) return null;
  const url = new URL(databaseUrl);
  url.username = login;
  url.password = password;
  return url.href;
}

function parseRolePrefix(value: string): string {
  if (value !== '' && !(value.endsWith('_') && isServiceName(value.slice(0, -1))))
    throw new InvalidArgumentError(
      'It must have at most 20 lowercase letters, digits and underscores, begin with a letter, but not with pg_, and end with an underscore, or be empty.',
    );
  return value;
}

export function parseUpTo(max: number, unit: string): (value: string) => number {
  return (value) => {
    if (!/^\d{1,4}$/.test(value) || Number(value) > max) {
      throw new InvalidArgumentError(`It must be a whole number${unit} from 0 to ${max}.`);
    }
    return Number(value);
  };
}

const warningsOf = ({ warnings, risks, sharedAddresses }: OperatorsCheck): string[] => [
  ...warnings,
  ...risks.map(({ description }) => description),
  ...sharedAddresses.map(
    ({ table: { table, noun }, accountId, recordIds }) =>
      `the ${table.replaceAll('_', ' ')}s ${recordIds.join(', ')} of ${accountId} have the same address in different spellings, and an erasure of one ` +
      `erases all; remove those that are one person with \`${operatorCommand()} ${noun} remove\``,
  ),
];

/** As a program reads it: `orderId` and `lineIds`. */
function sharedByName(shared: OperatorsCheck['sharedAddresses'][number]): Record<string, unknown> {
  const { table, accountType, accountId, recordIds } = shared;
  return { [`${lowerFirst(accountType)}Id`]: accountId, [`${lowerFirst(table.record)}Ids`]: recordIds };
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
