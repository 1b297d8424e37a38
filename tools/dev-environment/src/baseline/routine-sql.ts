import type { Routine, Schema } from './read-schema.ts';
import type { Sources } from './read-sources.ts';
import { comment, inSchema, simplify, wrap } from './sql-text.ts';

/** A function or procedure. The text between its quotes is that of the migrations. */
export function routineSql(routine: Routine, sources: Sources): string[] {
  const { name, kind, language, attributes, isDefiner, settings, body, isParsed } = routine;
  const quote = body.includes('$$') ? '$body$' : '$$';
  const result = routine.result === null ? '' : ` returns ${routine.result.replace(/^TABLE\(/, 'table (')}`;
  return [
    ...comment(sources.commentOn(`routine ${name}`)),
    ...wrap(simplify(`create ${kind} ${name}(${routine.arguments})${result}`)),
    [`language ${language}`, ...attributes].join(' '),
    ...(isDefiner ? ['security definer'] : []),
    ...settings.map(settingSql),
    isParsed ? `${sources.returned(name)?.join('\n') ?? inSchema(body)};` : `as ${quote}${inSchema(body)}${quote};`,
  ];
}

function settingSql(setting: string): string {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(setting) ?? [];
  if (name === 'search_path') return `set search_path = ${value.replace('public', '{schema}')}`;
  return `set ${name.toLowerCase()} = ${/^[a-z]+$/.test(value) ? value : `'${value}'`}`;
}

export function triggerSql({ definition, name }: Schema['triggers'][number]): string[] {
  // Its condition names the interfaces.
  if (name === 'merge_audit_claim') return ['select guard_audit_entries();'];
  return wrap(
    `${simplify(definition).replace(' on public.', ' on ').replace('execute function public.', 'execute function ')};`,
  );
}
