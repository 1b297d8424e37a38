import { createHash } from 'node:crypto';
import type { Database, Statement } from '@deedwire/store';
import type { Sql, SqlValue } from './version-types.ts';

/** A template is the same object at each of its evaluations. */
const statements = new WeakMap<TemplateStringsArray, Statement>();

export function sqlOn(database: Database): Sql {
  return <Row extends object>(parts: TemplateStringsArray, ...values: readonly SqlValue[]) =>
    database.query<Row & Record<string, unknown>>(statementOf(parts), values);
}

function statementOf(parts: TemplateStringsArray): Statement {
  const known = statements.get(parts);
  if (known !== undefined) return known;
  const text = parts.reduce((before, part, index) => `${before}$${index}${part}`);
  // Connections prepare a statement under its name.
  const name = `own-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  const statement = { name, text };
  statements.set(parts, statement);
  return statement;
}
