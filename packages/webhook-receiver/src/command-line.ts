import { parseArgs } from 'node:util';
import { graphileWorkerJobs } from './graphile-worker.ts';
import { type AddJob, inboxSql, inboxTable } from './job-inbox.ts';
import { moveInbox } from './move-inbox.ts';
import { pgBossJobs } from './pg-boss.ts';
import { connectionOf } from './postgres-connection.ts';
import { createTable, postgresTable } from './postgres-table.ts';
import { postgresKeptEventsSql, postgresStoreSql } from './postgres.ts';

const help = `Usage:
  deedwire-webhook-receiver sql store|inbox|kept-events [--table <name>]
  deedwire-webhook-receiver move-inbox graphile-worker|pg-boss [options]

sql prints the SQL that creates the table of postgresStore, of an inbox, or of postgresKeptEvents, for a migration.

move-inbox moves the rows of postgresInbox of version 1 to the inbox of a library, and adds a job for each delivery that waits.
Stop the processes of version 1 before. It needs the package pg, and pg-boss for its jobs.

  --database-url <url>  defaults to the environment variable DATABASE_URL
  --from <table>        the table of postgresInbox; defaults to webhook_inbox
  --table <name>        the table of the new inbox; defaults to webhook_inbox_receipt
  --schema <name>       the schema of the library; defaults to its own default
  --name <name>         the task of graphile-worker, or the queue of pg-boss; defaults to webhook
  --failed              also moves the deliveries whose last retry failed
`;

/** Its message tells the user what to change. */
export class UsageError extends Error {}

const optionsOfArgs = {
  help: { type: 'boolean', short: 'h' },
  table: { type: 'string' },
  from: { type: 'string' },
  'database-url': { type: 'string' },
  schema: { type: 'string' },
  name: { type: 'string' },
  failed: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parse>['values'];

type Library = 'graphile-worker' | 'pg-boss';

/** Resolves with the output. @throws {UsageError} */
export async function run(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { values, positionals } = parse(args);
  const [command, subject] = positionals;
  if (values.help === true || command === undefined) return help;
  if (command === 'sql' && subject === 'store') return postgresStoreSql(values.table);
  if (command === 'sql' && subject === 'inbox') return inboxSql(values.table);
  if (command === 'sql' && subject === 'kept-events') return postgresKeptEventsSql(values.table);
  if (command === 'move-inbox' && (subject === 'graphile-worker' || subject === 'pg-boss'))
    return move(subject, values, env);
  throw new UsageError(`there is no command "${positionals.join(' ')}".\n\n${help}`);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: optionsOfArgs });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  }
}

async function move(library: Library, values: Values, env: NodeJS.ProcessEnv): Promise<string> {
  const connectionString = values['database-url'] ?? env['DATABASE_URL'];
  if (connectionString === undefined) throw new UsageError('set DATABASE_URL, or pass --database-url.');
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString, max: 2 });
  try {
    const connection = connectionOf(pool);
    const to = inboxTable(values.table);
    await createTable(connection, to);
    const moved = await withJobs(library, { connectionString, ...values }, (addJob) =>
      moveInbox(connection, addJob, {
        from: postgresTable('inbox', values.from ?? 'webhook_inbox', [], 'ended_at').name,
        to,
        isWithFailed: values.failed === true,
      }),
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
  await boss.start();
  try {
    return await work(pgBossJobs({ boss, queue: name }));
  } finally {
    await boss.stop();
  }
}
