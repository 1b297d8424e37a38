import { field } from '../field.ts';
import { graphileWorkerJobs } from '../graphile-worker.ts';
import { type AddJob, inboxTable } from '../job-inbox.ts';
import { moveInbox } from '../move-inbox.ts';
import { pgBossJobs } from '../pg-boss.ts';
import { connectionOf, hasState } from '../postgres-connection.ts';
import { createTable, postgresTable, type PostgresTable } from '../postgres-table.ts';
import { hideSecrets, readSettings } from './input.ts';
import { reasonOf } from './send.ts';
import { checked, isKeyOf, parse, type Shell, UsageError } from './shell.ts';
import { wrap } from './text.ts';

type Library = keyof typeof installing;

export async function moveInboxCommand(args: readonly string[], shell: Shell): Promise<number> {
  const texts = ['table', 'from', 'database-url', 'schema', 'name', 'env-file'] as const;
  const { values, positionals } = parse(args, texts, ['failed']);
  const [library = ''] = positionals;
  if (positionals.length !== 1 || !isKeyOf(installing, library))
    throw new UsageError('move-inbox needs graphile-worker or pg-boss.');
  const settings = await readSettings(shell, values);
  const connectionString = values['database-url'] ?? settings['DATABASE_URL'] ?? '';
  if (connectionString === '') throw new UsageError('set DATABASE_URL, or pass --env-file.');
  hideSecrets(shell.hidden, { DATABASE_URL: connectionString });
  if (values['database-url'] !== undefined)
    shell.err(wrap('--database-url is deprecated, because other processes can read arguments. Set DATABASE_URL.'));
  const to = checked(() => inboxTable(values.table));
  const from = checked(() => postgresTable('inbox', values.from ?? 'webhook_inbox', [], 'ended_at').name);
  try {
    shell.out(await moveRows(library, { ...values, connectionString, from, to }));
    return 0;
  } catch (error) {
    throw new Error(`the inbox was not moved completely: ${causeOf(error, library)}`, { cause: error });
  }
}

function causeOf(error: unknown, library: Library): string {
  const message = reasonOf(error);
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
