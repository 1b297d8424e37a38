import { beginInIndexOrder, type Database, type Statement } from '@deedwire/store';
import type { Connection } from '@deedwire/testing';

/** The cost of one execution of a statement. */
export interface StatementCost {
  statement: string;
  /** Pages of tables and indexes that were read, whether cached or not. */
  buffers: number;
  /** Tables, indexes and partitions that were locked. */
  locks: number;
}

interface Explained {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

/** Runs statements as an app would, and measures each execution. */
export function explainingDatabase(connection: Connection): { database: Database; costs: StatementCost[] } {
  const costs: StatementCost[] = [];
  const database: Database = {
    async query<Row>({ name, text, planning }: Statement, values: readonly unknown[]): Promise<Row[]> {
      const execute = `execute measured${values.length === 0 ? '' : ` (${values.map(literal).join(', ')})`}`;
      // PostgreSQL chooses between both kinds of plan for a prepared statement.
      for (const mode of planning === undefined ? ['custom', 'generic'] : ['custom']) {
        await connection.run(`prepare measured as ${text}`);
        await connection.run(planning === 'in-index-order' ? beginInIndexOrder() : 'begin');
        await connection.run(`set local plan_cache_mode = force_${mode}_plan`);
        const [explained] = await connection.run(`explain (analyze, timing off, buffers, format json) ${execute}`);
        const [locked] = await connection.run(`
          select count(*)::int as locks
          from pg_locks l
          join pg_class c on c.oid = l.relation and c.relnamespace = 'public'::regnamespace
          where l.pid = pg_backend_pid()`);
        await connection.run('commit; deallocate measured');
        const [{ Plan: plan }] = (explained as unknown as Explained)['QUERY PLAN'];
        const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        costs.push({ statement: `${name} (${mode})`, buffers, locks: Number(locked?.['locks']) });
      }
      return (await connection.run(text, values)) as Row[];
    },
  };
  return { database, costs };
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (Array.isArray(value)) return `'{${value.join(',')}}'`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return `'${value}'`;
  throw new Error(`A ${typeof value} has no literal.`);
}
