import type { Connection } from '@deedwire/testing';
import { escapeLiteral } from 'pg';
import { beginInIndexOrder, type Database } from '../../src/index.ts';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/**
 * Executes the statement of `work` as a prepared statement, planned as it asks for or by `mode`, and returns the nodes of its plan,
 * of which the first is the root.
 */
export async function explain(
  connection: Connection,
  mode: string,
  work: (database: Database) => Promise<unknown>,
): Promise<[PlanNode, ...PlanNode[]]> {
  let nodes: [PlanNode, ...PlanNode[]] | undefined;
  await work({
    async query(statement, values) {
      const literals = values.map((value) => (value === null ? 'null' : escapeLiteral(textOf(value))));
      const isOrdered = statement.planning === 'in-index-order';
      await connection.run(isOrdered ? beginInIndexOrder() : `begin; set local plan_cache_mode = ${mode}`);
      await connection.run(`prepare explained as ${statement.text}`);
      const [row] = await connection.run(
        `explain (analyze, buffers, format json) execute explained (${literals.join(', ')})`,
      );
      await connection.run('rollback; deallocate explained');
      const [{ Plan }] = (row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'];
      nodes = flatten(Plan);
      return [];
    },
  });
  if (nodes === undefined) throw new Error('No statement was executed.');
  return nodes;
}

/** The text of a value, as PostgreSQL reads it. */
function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (!Array.isArray(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const elements = value.map((element: unknown) => (element === null ? 'null' : JSON.stringify(textOf(element))));
  return `{${elements.join(',')}}`;
}

function flatten(node: PlanNode): [PlanNode, ...PlanNode[]] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** The number of rows of a table that were read, including rows that a filter removed. */
export function rowsRead(nodes: readonly PlanNode[], relation: string): number {
  return nodes
    .filter((node) => node['Relation Name'] === relation && node['Node Type'] !== 'ModifyTable')
    .map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
    .reduce((sum, rows) => sum + rows, 0);
}

/** The tables that were read as a whole. */
export const scanned = (nodes: readonly PlanNode[]): string[] =>
  nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? '') : []));

export const indexes = (nodes: readonly PlanNode[]): string[] => nodes.flatMap((node) => node['Index Name'] ?? []);
