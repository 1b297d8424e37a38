import { firm } from '@deedwire/firm';
import { migrate } from '@deedwire/store';
import { Client } from 'pg';
import { median } from 'simple-statistics';
import type { Bench } from '../bench.ts';
import { startBenchPostgres } from '../postgres.ts';
import { describeMachine, introduction, markdownTable, type ReportHead, times } from '../report.ts';
import { interleaved, meanRatio } from '../rounds.ts';
import { withCleanup } from '../with-cleanup.ts';

const full = { rounds: 15, perRound: 200, inServer: 2_000 };
const short = { rounds: 3, perRound: 10, inServer: 20 };

const type = 'lender.updated';
const account = 'lender-1';

/** The statement that follows the row of the application in its transaction, as $1 the snapshot. */
const statements = {
  append_event: `select append_event('${type}', '${account}', $1::json)`,
  outbox: `insert into outbox (event_type, account, snapshot) values ('${type}', '${account}', $1::json)`,
} as const;

/** Microseconds per event, of one round. */
interface Round {
  statement: number;
  /** The statement alone, and its commit. */
  alone: number;
  /** With the row of the application, and the commit. */
  transaction: number;
  /** Of many calls in one transaction, in the server, without the commit. */
  inServer: number;
}

const figures: Readonly<Record<keyof Round, string>> = {
  statement: 'the statement, from Node',
  alone: 'the statement in its own transaction',
  transaction: 'the transaction, with a row of the application',
  inServer: 'in the server, many in one transaction',
};

interface AppendReport extends ReportHead {
  rounds: number;
  perRound: number;
  inServer: number;
  /** Medians in microseconds, and the mean of the ratios in the same round with its interval of 95 %. */
  figures: { title: string; appendEvent: number; outbox: number; ratio: ReturnType<typeof meanRatio> }[];
}

async function prepare(databaseUrl: string): Promise<void> {
  await migrate(databaseUrl, firm);
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(`
    select create_account('lender', '${account}', 'Lender');
    create table app_order (id bigint generated always as identity primary key, status text not null, placed_at timestamptz not null default now());
    create table outbox (id bigint generated always as identity primary key, event_type text not null, account text not null,
      snapshot json not null, created_at timestamptz not null default now());
    analyze`);
  await client.end();
}

async function measureRound(
  client: Client,
  statement: string,
  snapshot: string,
  { perRound, inServer }: typeof full,
): Promise<Round> {
  let statementMs = 0;
  const startMs = performance.now();
  for (let count = 0; count < perRound; count += 1) {
    await client.query('begin');
    await client.query({ name: 'app-order', text: `insert into app_order (status) values ('PAID')` });
    const beganMs = performance.now();
    await client.query({ name: statement.slice(0, 12), text: statement, values: [snapshot] });
    statementMs += performance.now() - beganMs;
    await client.query('commit');
  }
  const transactionMs = performance.now() - startMs;
  const aloneStartMs = performance.now();
  for (let count = 0; count < perRound; count += 1)
    await client.query({ name: statement.slice(0, 12), text: statement, values: [snapshot] });
  const aloneMs = performance.now() - aloneStartMs;
  const repeated = statement.replace(/^select/, 'perform').replace('$1', `'${snapshot.replaceAll("'", "''")}'`);
  await client.query('begin');
  const { rows } = await client.query<{ ms: number }>(`select extract(epoch from clock_timestamp()) * 1000 as ms`);
  await client.query(`do $do$ begin for number in 1..${inServer} loop ${repeated}; end loop; end $do$`);
  const ended = await client.query<{ ms: number }>(`select extract(epoch from clock_timestamp()) * 1000 as ms`);
  await client.query('commit');
  const inServerMs = Number(ended.rows[0]?.ms) - Number(rows[0]?.ms);
  return {
    statement: (statementMs * 1000) / perRound,
    alone: (aloneMs * 1000) / perRound,
    transaction: (transactionMs * 1000) / perRound,
    inServer: (inServerMs * 1000) / inServer,
  };
}

function markdown(report: AppendReport): string {
  const title = `append: ${report.rounds} interleaved rounds, medians; PostgreSQL with fsync, one connection.`;
  const table = markdownTable([
    ['for each event', 'append_event', 'row in an outbox', 'ratio', 'from', 'to'],
    ...report.figures.map(({ title: name, appendEvent, outbox, ratio: { mean, low, high } }) => [
      name,
      `${appendEvent.toFixed(0)} µs`,
      `${outbox.toFixed(0)} µs`,
      ...[mean, low, high].map((ratio) => times(ratio)),
    ]),
  ]);
  return `${introduction(title, report)}\n\n${table}`;
}

export const append: Bench = {
  name: 'append',
  summary: 'append_event() in the transaction of an application against a row in an outbox table',
  run: ({ quick, progress }) =>
    withCleanup(async (defer) => {
      const sizes = quick ? short : full;
      const postgres = await startBenchPostgres(defer);
      const databaseUrl = await postgres.createDatabase('append');
      await prepare(databaseUrl);
      const snapshot = JSON.stringify(firm.events.find((event) => event.type === type)?.sample('service'));
      const client = new Client(databaseUrl);
      await client.connect();
      defer(() => client.end());
      const contestants = Object.entries(statements).map(([name, statement]) => ({ name, statement }));
      // Makes the plans of the session.
      for (const { statement } of contestants) await measureRound(client, statement, snapshot, sizes);
      const measured = await interleaved(contestants, sizes.rounds, ({ name, statement }, round) => {
        progress(`round ${round}: ${name}`);
        return measureRound(client, statement, snapshot, sizes);
      });
      const valuesOf = (name: keyof typeof statements, figure: keyof Round): number[] =>
        measured.get(name)?.map((round) => round[figure]) ?? [];
      const report: AppendReport = {
        bench: 'append',
        quick,
        machine: describeMachine(),
        ...sizes,
        figures: (['statement', 'alone', 'transaction', 'inServer'] as const).map((figure) => {
          const [own, plain] = [valuesOf('append_event', figure), valuesOf('outbox', figure)];
          const ratio = meanRatio(own.map((value, round) => value / (plain[round] ?? Number.NaN)));
          return { title: figures[figure], appendEvent: median(own), outbox: median(plain), ratio };
        }),
      };
      return { json: report, markdown: markdown(report) };
    }),
};
