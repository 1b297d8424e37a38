import { webhookSecretProblem } from '@deedwire/webhook-signing';
import { field } from '../field.ts';
import { postgresTable } from '../postgres-table.ts';
import { openApi, readApiUrl } from './api.ts';
import { type Grade, lineOf } from './grade.ts';
import { readSecrets, readSettings } from './input.ts';
import { reasonOf } from './send.ts';
import { checked, CommandError, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { localAddresses } from './target.ts';
import { counted, excerpt } from './text.ts';

type Found = Omit<Grade, 'name'>;

const pass = (detail: string): Found => ({ result: 'pass', detail });
const fail = (detail: string, fix: string): Found => ({ result: 'fail', detail, fix });
const notSet = (name: string): Found => ({ result: 'skipped', detail: `${name} is not set` });

export async function doctor(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, ['table', ...secretOptions]);
  if (positionals.length > 0) throw new UsageError('doctor takes no argument.');
  const settings = await readSettings(shell, values);
  const table = checked(() => postgresTable('store', values.table ?? 'webhook_receipt', [], 'received_at').name);
  const url = settings['DEEDWIRE_URL'] ?? '';
  const checks: Readonly<Record<string, () => Found | Promise<Found>>> = {
    node: () => nodeOf(process.versions.node),
    secret: async () =>
      values['secret-file'] === undefined && !settings['WEBHOOK_SECRET']
        ? notSet('WEBHOOK_SECRET')
        : secretOf(await readSecrets(shell, values)),
    tls: () => (url === '' ? notSet('DEEDWIRE_URL') : tlsOf(readApiUrl(url))),
    clock: () => (url === '' ? notSet('DEEDWIRE_URL') : clockOf(readApiUrl(url))),
    api: async () => {
      if (url === '') return notSet('DEEDWIRE_URL');
      await (await openApi(shell, values)).request('{ __typename }', {}, { __typename: '' });
      return pass('the credentials are accepted');
    },
    store: () => (settings['DATABASE_URL'] ? storeOf(settings['DATABASE_URL'], table) : notSet('DATABASE_URL')),
  };
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    let found: Found;
    try {
      found = await check();
    } catch (error) {
      found =
        field(error, 'code') === 'ERR_MODULE_NOT_FOUND'
          ? fail('the package pg is not installed', 'Install it with "npm install pg".')
          : fail(excerpt(reasonOf(error), 300), 'Check the variable, and that this machine reaches the server.');
    }
    if (found.result === 'fail') failed += 1;
    shell.out(lineOf({ name, ...found }, shell.hasColors));
  }
  if (failed === 0) return 0;
  throw new CommandError(`${counted(failed, 'check')} failed.`);
}

export function nodeOf(version: string): Found {
  return Number.parseInt(version, 10) >= 20 ? pass(version) : fail(version, 'The kit needs Node 20 or later.');
}

function secretOf(secrets: readonly string[]): Found {
  const problem = secrets.map(webhookSecretProblem).find((each) => each !== null);
  return problem ? fail('a secret is malformed', problem) : pass(counted(secrets.length, 'secret'));
}

async function tlsOf({ protocol, hostname }: URL): Promise<Found> {
  if (protocol === 'https:') return pass('https');
  return (await localAddresses(hostname)) !== null
    ? pass('http on this machine')
    : fail('http', 'Use https: requests contain your API key.');
}

/** Receivers refuse what was signed more than 300 seconds from their clock. */
async function clockOf(url: URL): Promise<Found> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  const seconds = Math.round((Date.now() - Date.parse(response.headers.get('date') ?? '')) / 1_000);
  const detail = `${seconds} s from the clock of the interface`;
  if (Number.isNaN(seconds)) return { result: 'unproven', detail: 'the response has no date' };
  return Math.abs(seconds) <= 30 ? pass(detail) : fail(detail, 'Synchronize the clock of this machine with NTP.');
}

async function storeOf(connectionString: string, table: string): Promise<Found> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString, connectionTimeoutMillis: 10_000, statement_timeout: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(
      `select pg_is_in_recovery() as "isStandby",
        case when to_regclass($1) is not null then array(
          select privilege from unnest(array['select', 'insert', 'update', 'delete']) as privilege
          where not has_table_privilege(to_regclass($1), privilege)
        ) end as missing`,
      [table],
    );
    if (field(rows[0], 'isStandby') === true) return fail('the server is read-only', 'Connect to the primary.');
    const missing = field(rows[0], 'missing');
    if (!Array.isArray(missing))
      return fail(`no table ${table}`, 'Call createTable(), or run what "sql store" prints.');
    if (missing.length === 0) return pass(`${table} can be written`);
    return fail(`no right to ${missing.join(', ')} in ${table}`, 'Run what "sql store --grant-to <login>" prints.');
  } finally {
    await client.end().catch(() => {});
  }
}
