import type { Schema } from './read-schema.ts';
import type { Sources } from './read-sources.ts';
import { routineSql, triggerSql } from './routine-sql.ts';
import { sections } from './sections.ts';
import { comment, heading, simplify, withBlank } from './sql-text.ts';
import { lateConstraintsSql, tableSql, withOptions } from './table-sql.ts';

/**
 * The tables, functions and triggers of a baseline.
 *
 * @param special what is written for a function whose text depends on the database
 * @throws {Error} if a section lists no table or function of this name
 */
export function composeSections(schema: Schema, sources: Sources, special: Readonly<Record<string, string>>): string[] {
  const placed = new Set(sections.flatMap(({ relations, routines }) => [...relations, ...routines]));
  const { tables, views, sequences, routines } = schema;
  const unplaced = [...tables, ...views, ...sequences, ...routines].filter(({ name }) => !placed.has(name));
  if (unplaced.length > 0)
    throw new Error(`Add to a section of the baseline: ${unplaced.map(({ name }) => name).join(', ')}.`);
  return sections.flatMap((section, index) => [
    ...heading(section.title),
    ...section.relations.flatMap((name) => withBlank(relationSql(name, schema, sources))),
    ...withBlank(
      tables
        .filter(({ name }) => section.relations.includes(name))
        .flatMap((table) => lateConstraintsSql(table, sources)),
    ),
    ...section.routines.flatMap((name) => {
      const routine = routines.find((each) => each.name === name);
      if (routine === undefined) return [];
      return special[name] === undefined ? [...routineSql(routine, sources), ''] : [special[name], ''];
    }),
    ...withBlank(
      schema.triggers
        .filter(({ table, routine }) => Math.max(sectionOf(table), sectionOf(routine)) === index)
        .flatMap(triggerSql),
    ),
  ]);
}

const sectionOf = (name: string): number =>
  sections.findIndex(({ relations, routines }) => relations.includes(name) || routines.includes(name));

function relationSql(name: string, { tables, views, sequences }: Schema, sources: Sources): string[] {
  const table = tables.find((each) => each.name === name);
  if (table !== undefined) return tableSql(table, sources);
  const about = comment(sources.commentOn(`relation ${name}`));
  const view = views.find((each) => each.name === name);
  if (view !== undefined) {
    const lines = simplify(view.definition).split('\n');
    return [...about, `create view ${name}${withOptions(view.options)} as`, ...lines];
  }
  return sequences.some((each) => each.name === name) ? [...about, `create sequence ${name};`] : [];
}
