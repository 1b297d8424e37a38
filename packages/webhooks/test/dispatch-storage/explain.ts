import { randomUUID } from 'node:crypto';
import { beginInIndexOrder, type Database, type Statement } from '@deedwire/store';
import type { Connection } from '@deedwire/testing';

/** A node of `explain (analyze, buffers, format json)`. */
interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

export interface PlanSummary {
  readonly nodeTypes: ReadonlySet<string>;
  /** The largest number of rows that one node read, over all of its loops. */
  readonly rowsMax: number;
  /** The largest number of rows that one node read and discarded. */
  readonly removedMax: number;
  readonly buffers: number;
}

/** Records the statements that a function runs. They return nothing. */
class RecordingDatabase implements Database {
  readonly calls: { statement: Statement; values: readonly unknown[] }[] = [];

  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    this.calls.push({ statement, values });
    return Promise.resolve([]);
  }
}

/**
 * Runs the first statement of a function in a transaction that is rolled back, and summarizes its plan.
 *
 * @param planning `generic`: the plan that sessions cache, which does not depend on the values; `custom`: that of the first
 * executions
 */
export async function explain(
  connection: Connection,
  run: (database: Database) => Promise<unknown>,
  planning: 'generic' | 'custom' = 'generic',
): Promise<PlanSummary> {
  const { statement, values } = await callOf(run);
  return inRolledBack(connection, statement, planning, async () => {
    await connection.run(`prepare explained as ${statement.text}`);
    try {
      return await explainPrepared(connection, 'explained', values);
    } finally {
      await connection.run('deallocate explained').catch(() => {});
    }
  });
}

/**
 * Plans the first statement of a function, as a session that caches the plan. Returns a function that summarizes that plan when the
 * statement is executed later.
 */
export async function planNow(
  connection: Connection,
  run: (database: Database) => Promise<unknown>,
): Promise<() => Promise<PlanSummary>> {
  const name = `planned_${randomUUID().replaceAll('-', '')}`;
  const { statement, values } = await callOf(run);
  await inRolledBack(connection, statement, 'generic', async () => {
    await connection.run(`prepare ${name} as ${statement.text}`);
    await connection.run(`explain execute ${name} (${values.map(toLiteral).join(', ')})`);
  });
  return async () => {
    const later = await callOf(run);
    return inRolledBack(connection, statement, 'generic', () => explainPrepared(connection, name, later.values));
  };
}

async function callOf(run: (database: Database) => Promise<unknown>) {
  const recorder = new RecordingDatabase();
  await run(recorder).catch(() => {});
  const [call] = recorder.calls;
  if (call === undefined) throw new Error('The function ran no statement.');
  return call;
}

async function inRolledBack<Result>(
  connection: Connection,
  statement: Statement,
  planning: 'generic' | 'custom',
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.run(statement.planning === 'in-index-order' ? beginInIndexOrder() : 'begin');
  try {
    await connection.run(`set local enable_seqscan = off; set local plan_cache_mode = force_${planning}_plan`);
    return await work();
  } finally {
    await connection.run('rollback');
  }
}

async function explainPrepared(connection: Connection, name: string, values: readonly unknown[]): Promise<PlanSummary> {
  const literals = values.map(toLiteral).join(', ');
  const [row = {}] = await connection.run(`explain (analyze, buffers, format json) execute ${name} (${literals})`);
  return summarize(row);
}

function toLiteral(value: unknown): string {
  if (value instanceof Buffer) return `'\\x${value.toString('hex')}'`;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new TypeError('Expected a text, a number, a boolean or bytes.');
  return `'${String(value).replaceAll("'", "''")}'`;
}

function summarize(row: Record<string, unknown>): PlanSummary {
  const [{ Plan: root }] = row['QUERY PLAN'] as [{ Plan: PlanNode }];
  const nodes = [...nodesOf(root)];
  return {
    nodeTypes: new Set(nodes.map((node) => node['Node Type'])),
    rowsMax: Math.max(...nodes.map((node) => node['Actual Rows'] * node['Actual Loops'])),
    removedMax: Math.max(
      ...nodes.map(
        (node) =>
          ((node['Rows Removed by Filter'] ?? 0) +
            (node['Rows Removed by Join Filter'] ?? 0) +
            (node['Rows Removed by Index Recheck'] ?? 0)) *
          node['Actual Loops'],
      ),
    ),
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}
