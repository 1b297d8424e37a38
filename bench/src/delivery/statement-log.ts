import { open, stat } from 'node:fs/promises';
import type { BenchPostgres } from '../postgres.ts';

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

export async function logPosition({ logFile }: BenchPostgres): Promise<number> {
  return (await stat(logFile)).size;
}

/**
 * The statements that the sessions of an application have run since a position of the log. The name of a session is that of the
 * application, or begins with it and a hyphen: `webhook-worker`, `webhook-worker-fan-out`.
 */
export async function statementsSince(
  { logFile }: BenchPostgres,
  position: number,
  applicationName: string,
): Promise<LoggedStatement[]> {
  const file = await open(logFile);
  const statements: LoggedStatement[] = [];
  try {
    for await (const line of file.readLines({ start: position, autoClose: false })) {
      const statement = parseStatement(line, applicationName);
      if (statement !== null) statements.push(statement);
    }
  } finally {
    await file.close();
  }
  return statements;
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
