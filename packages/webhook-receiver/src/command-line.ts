import { parseArgs } from 'node:util';
import { field, messageOf } from './field.ts';
import { graphileWorkerJobs } from './graphile-worker.ts';
import { type AddJob, inboxSql, inboxTable } from './job-inbox.ts';
import { moveInbox } from './move-inbox.ts';
import { pgBossJobs } from './pg-boss.ts';
import { connectionOf, hasState } from './postgres-connection.ts';
import { createTable, postgresTable, type PostgresTable } from './postgres-table.ts';
import { postgresKeptEventsSql, postgresPullSql, postgresStoreSql } from './postgres.ts';

const help = `Usage:
  npx @deedwire/webhook-receiver sql store|inbox|kept-events|pull [options]
  npx @deedwire/webhook-receiver move-inbox graphile-worker|pg-boss [options]

sql prints the SQL that creates the table of postgresStore, of an inbox, of postgresKeptEvents, or of what reconcile remembers,
for a migration.

  --table <name>        defaults to webhook_receipt, webhook_inbox_receipt, webhook_kept_event, or webhook_receipt_pull. The last
                        has the name of the table of the store or the inbox, and _pull
  --grant-to <login>    also prints the rights on the table that the login of the service needs

move-inbox moves the rows of postgresInbox of version 1 to the inbox of a library, and adds a job for each delivery that waits.
Stop the processes of version 1 before. It needs the package pg, and pg-boss for its jobs. It can run again after a failure.

  --database-url <url>  defaults to the environment variable DATABASE_URL
  --from <table>        the table of postgresInbox; defaults to webhook_inbox
  --table <name>        the table of the new inbox; defaults to webhook_inbox_receipt
  --schema <name>       the schema of the library; defaults to its own default
  --name <name>         the task of graphile-worker, or the queue of pg-boss; defaults to webhook
  --failed              also moves the deliveries whose last retry failed

The name of a table can have a schema: app.receipt. --help, or -h, prints this text. The exit code is 0, or 1 if the command
failed, or 2 if it was called in a wrong way.
`;

/** The command was called in a wrong way. Its message tells the user what to change. */
export class UsageError extends Error {}

const optionsOfArgs = {
  help: { type: 'boolean', short: 'h' },
  table: { type: 'string' },
  'grant-to': { type: 'string' },
  from: { type: 'string' },
  'database-url': { type: 'string' },
  schema: { type: 'string' },
  name: { type: 'string' },
  failed: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parse>['values'];

const optionsOfCommands: Readonly<Record<string, readonly string[]>> = {
  sql: ['table', 'grant-to'],
  'move-inbox': ['database-url', 'from', 'table', 'schema', 'name', 'failed'],
};

const sqlOfTables = {
  store: postgresStoreSql,
  inbox: inboxSql,
  'kept-events': postgresKeptEventsSql,
  pull: postgresPullSql,
};

type Library = 'graphile-worker' | 'pg-boss';

/**
 * Resolves with the output.
 *
 * @throws {UsageError}
 * @throws {Error} if the command failed, with one line about the cause
 */
export async function run(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { values, positionals } = parse(args);
  const [command = '', subject = ''] = positionals;
  if (values.help === true || positionals.length === 0) return help;
  const unknown = Object.keys(values).find((name) => optionsOfCommands[command]?.includes(name) === false);
  if (unknown !== undefined) throw new UsageError(`${command} has no option --${unknown}.\n\n${help}`);
  if (positionals.length === 2 && command === 'sql' && isTable(subject))
    return checked(() => sqlOfTables[subject](values.table, values['grant-to']));
  if (positionals.length === 2 && command === 'move-inbox' && isLibrary(subject)) return move(subject, values, env);
  throw new UsageError(`there is no command "${positionals.join(' ')}".\n\n${help}`);
}

function isTable(subject: string): subject is keyof typeof sqlOfTables {
  return Object.hasOwn(sqlOfTables, subject);
}

function isLibrary(subject: string): subject is Library {
  return subject === 'graphile-worker' || subject === 'pg-boss';
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: optionsOfArgs });
  } catch (error) {
    throw new UsageError(`${messageOf(error)}\n\n${help}`);
  }
}

/** A malformed name is a wrong call. */
function checked<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw field(error, 'name') === 'TypeError' ? new UsageError(messageOf(error)) : error;
  }
}

async function move(library: Library, values: Values, env: NodeJS.ProcessEnv): Promise<string> {
  const connectionString = values['database-url'] ?? env['DATABASE_URL'];
  if (connectionString === undefined || connectionString === '')
    throw new UsageError('set DATABASE_URL, or pass --database-url.');
  const to = checked(() => inboxTable(values.table));
  const from = checked(() => postgresTable('inbox', values.from ?? 'webhook_inbox', [], 'ended_at').name);
  try {
    return await moveRows(library, { ...values, connectionString, from, to });
  } catch (error) {
    throw new Error(`the inbox was not moved completely: ${causeOf(error, library)}`, { cause: error });
  }
}

function causeOf(error: unknown, library: Library): string {
  const message = messagesOf(error);
  if (field(error, 'code') === 'ERR_INVALID_URL')
    return 'the URL of the database is malformed. It has the form postgres://login:password@host:5432/name.';
  if (field(error, 'code') === 'ERR_MODULE_NOT_FOUND')
    return `${message.split(' imported from ')[0]}. Install the package.`;
  // A schema or a function is missing, or what pg-boss says in place of it.
  if (hasState(error, ['3F000', '42883']) || /^pg-boss |^Queue /.test(message))
    return `${message}. ${installing[library]}, and pass --schema and --name unless they are the defaults.`;
  return message;
}

const installing = {
  'graphile-worker': 'Create the tables with "npx graphile-worker --schema-only"',
  'pg-boss': 'Create the tables with boss.start(), and the queue with boss.createQueue()',
};

/** That of a refused connection is empty if the host has several addresses. */
function messagesOf(error: unknown): string {
  const errors = field(error, 'errors');
  return messageOf(error) === '' && Array.isArray(errors) ? errors.map(messageOf).join(', ') : messageOf(error);
}

interface MoveOptions {
  readonly connectionString: string;
  readonly from: string;
  readonly to: PostgresTable;
  readonly name?: string;
  readonly schema?: string;
  readonly failed?: boolean;
}

async function moveRows(library: Library, { from, to, failed = false, ...options }: MoveOptions): Promise<string> {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: options.connectionString, max: 2, connectionTimeoutMillis: 10_000 });
  // The statement that waits for a lost connection fails.
  pool.on('error', () => {});
  try {
    const connection = connectionOf(pool);
    const { rows } = await pool.query('select to_regclass($1::text) is not null as exists', [from]);
    if (field(rows[0], 'exists') !== true)
      throw new Error(`there is no table ${from}. Pass that of postgresInbox with --from.`);
    await createTable(connection, to);
    const moved = await withJobs(library, options, (addJob) =>
      moveInbox(connection, addJob, { from, to, isWithFailed: failed }),
    );
    const lines = [`${moved.jobs} deliveries have jobs now.`, `${moved.processed} processed deliveries were moved.`];
    if (moved.failed > 0) lines.push(`${moved.failed} failed deliveries remain. Move them with --failed.`);
    if (moved.running > 0)
      lines.push(
        `${moved.running} deliveries remain: a process of version 1 handles them. Stop it, and run this again.`,
      );
    return `${lines.join('\n')}\n`;
  } finally {
    await pool.end();
  }
}

async function withJobs<Result>(
  library: Library,
  { connectionString, name, schema }: { connectionString: string; name?: string; schema?: string },
  work: (addJob: AddJob) => Promise<Result>,
): Promise<Result> {
  if (library === 'graphile-worker') return work(graphileWorkerJobs({ task: name, schema }));
  const { PgBoss } = await import('pg-boss');
  const boss = new PgBoss({
    connectionString,
    max: 1,
    migrate: false,
    schedule: false,
    supervise: false,
    ...(schema && { schema }),
  });
  // A call that uses a lost connection fails.
  boss.on('error', () => {});
  try {
    await boss.start();
    return await work(pgBossJobs({ boss, queue: name }));
  } finally {
    await boss.stop();
  }
}
