import { open, stat } from 'node:fs/promises';
import { median, sum } from 'simple-statistics';
import type { BenchPostgres } from '../postgres.ts';

/** Of the sessions that the worker opens, without the one that listens. */
const workerApplicationName = 'deedwire-webhook-worker';

/** One message of the server about a statement. A named statement causes up to three: parse, bind and execute. */
export interface LoggedStatement {
  database: string;
  /** The name of a prepared statement, or the first words of another. */
  name: string;
  phase: 'parse' | 'bind' | 'execute' | 'statement';
  durationMs: number;
}

/** Makes the server log the duration of every statement of every session. */
export async function logStatements(postgres: BenchPostgres): Promise<void> {
  await postgres.set({
    log_min_duration_statement: '0',
    log_parameter_max_length: '0',
    log_line_prefix: '%d|%a|',
  });
}

/**
 * The statements of the worker during `work`. The name of a session is that of the application, or begins with it and a hyphen:
 * `webhook-worker`, `webhook-worker-fan-out`.
 */
export async function statementsDuring<Result>(
  { logFile }: BenchPostgres,
  work: () => Promise<Result>,
): Promise<{ result: Result; statements: LoggedStatement[] }> {
  const { size: start } = await stat(logFile);
  const result = await work();
  const file = await open(logFile);
  const statements: LoggedStatement[] = [];
  try {
    for await (const line of file.readLines({ start, autoClose: false })) {
      const statement = parseStatement(line, workerApplicationName);
      if (statement !== null) statements.push(statement);
    }
  } finally {
    await file.close();
  }
  return { result, statements };
}

/** Milliseconds that statements take in the server per 1,000 deliveries, by the name of the statement. */
export type StatementTimes = Record<string, number>;

/** The times of the statements of the worker in the database of a system during `work`. */
export async function timeStatements<Result>(
  postgres: BenchPostgres,
  { databaseUrl }: { databaseUrl: string },
  deliveries: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; times: StatementTimes }> {
  const { result, statements } = await statementsDuring(postgres, work);
  const times: StatementTimes = {};
  for (const { database, name, durationMs } of statements)
    if (databaseUrl.endsWith(`/${database}`)) times[name] = (times[name] ?? 0) + (durationMs / deliveries) * 1000;
  return { result, times };
}

export function medianTimes(rounds: readonly StatementTimes[]): StatementTimes {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))].toSorted();
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name] ?? 0))]));
}

/** The time of all statements. */
export function sumOf(times: StatementTimes): number {
  return sum(Object.values(times));
}

/** The last sum divided by the first. */
export function growthOf(sizes: readonly StatementTimes[]): number {
  return sumOf(sizes.at(-1) ?? {}) / sumOf(sizes.at(0) ?? {});
}

const message = /^([^|]*)\|([^|]*)\|LOG: {2}duration: ([\d.]+) ms {2}(parse|bind|execute|statement)(.*)$/;

/** Null for a line that is no such message of this application. */
export function parseStatement(line: string, applicationName: string): LoggedStatement | null {
  const [, database = '', application, duration, phase, rest = ''] = message.exec(line) ?? [];
  if (application !== applicationName && !application?.startsWith(`${applicationName}-`)) return null;
  if (phase !== 'parse' && phase !== 'bind' && phase !== 'execute' && phase !== 'statement') return null;
  // ` <name>: <text>`, or `: <text>` after "statement". An unnamed statement has the name "<unnamed>".
  const [, name = '', text = ''] = /^(?: (\S+))?: ?(.*)$/.exec(rest) ?? [];
  const isNamed = name !== '' && name !== '<unnamed>';
  return {
    database,
    name: isNamed ? name : text.trim().split(/\s+/).slice(0, 3).join(' '),
    phase,
    durationMs: Number(duration),
  };
}
