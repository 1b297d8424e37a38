import type { Column, Constraint, Table } from './read-schema.ts';
import type { Sources } from './read-sources.ts';
import { comment, indent, lineLength, simplify, wrap } from './sql-text.ts';

/** Rows of earlier releases stay as they were. */
const isLate = ({ definition }: Constraint): boolean => definition.endsWith(' NOT VALID');

/** A table with its indexes, without the constraints that hold for new rows only. */
export function tableSql(table: Table, sources: Sources): string[] {
  const { name } = table;
  if (name === 'audit_entry_default')
    return [
      ...comment(sources.commentOn(`relation ${name}`)),
      `create table ${name} partition of audit_entry default;`,
    ];
  const ofTable = table.constraints.filter(
    (each) => !isLate(each) && !table.columns.some((column) => ofColumn(table, column).includes(each)),
  );
  const entries = [
    ...table.columns.map((column) => columnSql(table, column, sources)),
    ...ofTable.map((each) => wrap(constraintSql(table, each, sources))),
  ];
  const partition = table.partitionKey === null ? '' : ` partition by ${table.partitionKey.toLowerCase()}`;
  return [
    ...comment(sources.commentOn(`relation ${name}`)),
    `create table ${name} (`,
    ...indent(
      entries.flatMap((lines, index) =>
        lines.map((line, place) => (index < entries.length - 1 && place === lines.length - 1 ? `${line},` : line)),
      ),
    ),
    `)${partition}${withOptions(table.options)};`,
    ...table.indexes.flatMap((index) => [
      ...comment(sources.commentOn(`relation ${index.name}`)),
      ...wrap(`${simplify(index.definition.replace(' USING btree', '')).replace(/ on (?:only )?public\./, ' on ')};`),
      ...Object.entries(index.statistics).map(
        ([number, target]) => `alter index ${index.name} alter column ${number} set statistics ${target};`,
      ),
    ]),
    ...table.columns.flatMap((column) =>
      column.statistics === null
        ? []
        : [`alter table ${name} alter column ${column.name} set statistics ${column.statistics};`],
    ),
    ...(table.replicaIdentity === null ? [] : [`alter table ${name} replica identity ${table.replicaIdentity};`]),
  ];
}

/** The constraints of a table that hold for new rows only. A partition has those of its table. */
export function lateConstraintsSql(table: Table, sources: Sources): string[] {
  if (table.name === 'audit_entry_default') return [];
  return table.constraints
    .filter(isLate)
    .flatMap((each) => wrap(`alter table ${table.name} add ${constraintSql(table, each, sources)};`));
}

export const withOptions = (options: readonly string[]): string =>
  options.length === 0 ? '' : ` with (${options.map((each) => each.replace('=', ' = ')).join(', ')})`;

/** The constraints that are written after a column: those of it alone. */
const ofColumn = (table: Table, { name }: Column): Constraint[] =>
  table.constraints.filter(
    (each) =>
      !isLate(each) &&
      each.columns.length === 1 &&
      each.columns[0] === name &&
      (each.type !== 'f' || each.definition.endsWith('(id)')),
  );

function columnSql(table: Table, column: Column, sources: Sources): string[] {
  const { name, type, collation, isNotNull, suffix } = column;
  const constraints = ofColumn(table, column);
  const isKey = constraints.some((each) => each.type === 'p');
  const declared = [
    name,
    simplify(type),
    collation === null ? '' : `collate ${collation}`,
    isNotNull && !isKey ? 'not null' : '',
    simplify(suffix),
  ]
    .filter((part) => part !== '')
    .join(' ');
  const texts = constraints.map((each) =>
    constraintSql(table, each, sources)
      .replace(/^(primary key|unique) \(.*\)$/, '$1')
      .replace(/^foreign key \(.*\) (references \w+) \(id\)$/, '$1'),
  );
  const line = [declared, ...texts].join(' ');
  const isShort = line.length <= lineLength - 3 && !line.includes('\n');
  return [
    ...comment(sources.commentOn(`column ${table.name}.${name}`)),
    ...(isShort ? [line] : [declared, ...indent(texts.flatMap((text) => wrap(text)))]),
  ];
}

function constraintSql(table: Table, constraint: Constraint, sources: Sources): string {
  const { type, name } = constraint;
  const definition =
    type === 'c'
      ? checkSql(constraint, sources)
      : simplify(constraint.definition).replace(/ references (\w+)\(/, ' references $1 (');
  const ownName = defaultName(table.name, constraint);
  const isAlone = table.constraints.filter((each) => defaultName(table.name, each) === ownName).length === 1;
  return name === ownName && isAlone ? definition : `constraint ${name} ${definition}`;
}

/** That PostgreSQL gives to a constraint without a name. */
function defaultName(table: string, { type, columns }: Constraint): string {
  const suffix = { c: 'check', f: 'fkey', p: 'pkey', u: 'key' }[type];
  const named = type === 'p' || (type === 'c' && columns.length > 1) ? [] : columns;
  return [table, ...named, suffix].join('_');
}

/** The text of the migrations, unless a later one has changed a value in a way that is not found. */
function checkSql(constraint: Constraint, sources: Sources): string {
  const text = sources.check(constraint.name);
  const isLast =
    text !== null &&
    valuesOf(text.replaceAll(/--.*/g, '')) ===
      valuesOf(constraint.definition.replaceAll(/::\w+(?: with time zone)?(?:\[\])?/g, ''));
  return isLast ? `${text}${isLate(constraint) ? ' not valid' : ''}` : simplify(constraint.definition);
}

const valuesOf = (sql: string): string =>
  [...sql.replaceAll(/'(\d{4}-\d\d-\d\d) 00:00:00\+00'/g, "'$1Z'").matchAll(/'[^']*'|\b\d+\b/g)]
    .map(String)
    .toSorted()
    .join(' ');
