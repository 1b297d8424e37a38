import type { Schema } from './read-schema.ts';
import { fill, indent, simplify } from './sql-text.ts';

const apps = ['webhook-worker', 'operator-cli'] as const;
const roleOf = { 'webhook-worker': 'webhook_worker', 'operator-cli': 'operator' } as const;

/** In the order of GRANT, columns last. */
const kindsOfPrivileges = ['select', 'insert', 'update', 'delete', 'usage', 'execute'];
const placeOf = (privileges: string): number =>
  kindsOfPrivileges.findIndex((kind) => privileges.startsWith(kind)) +
  (privileges.includes('(') ? kindsOfPrivileges.length : 0);

const literalOf = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** In words of GRANT, one line for each object. */
function grantsOf(role: string, schema: Schema): string[] {
  const byObject = Map.groupBy(
    schema.grants.filter((grant) => grant.role === role),
    ({ object }) => object,
  );
  return [...byObject].map(([object, grants]) => {
    const privileges = grants.map((grant) => grant.privileges).toSorted((a, b) => placeOf(a) - placeOf(b));
    return `${privileges.join(', ')} on ${object}`;
  });
}

/** Row-level security, the roles of the worker and the operator, and what these may do. */
export function composeRights(schema: Schema): string[] {
  const guarded = schema.tables.filter(({ hasRowSecurity }) => hasRowSecurity).map(({ name }) => name);
  const closed = schema.routines.filter(({ isOfPublic }) => !isOfPublic);
  const listed = (kind: string) => closed.filter((each) => each.kind === kind).map(({ name }) => name);
  return [
    'do $do$',
    'declare',
    '  relation text;',
    'begin',
    '  foreach relation in array array[',
    ...indent(indent(fill(guarded.map(literalOf)))),
    '  ] loop',
    "    execute format('alter table %I enable row level security', relation);",
    '  end loop;',
    'end',
    '$do$;',
    '',
    '-- Whatever roles there are.',
    'revoke execute on function',
    ...indent(fill(listed('function'))),
    'from public;',
    `revoke execute on procedure ${listed('procedure').join(', ')} from public;`,
    '',
    '-- The group roles of the worker and of the operator. The login of an app is a member of its role. Roles belong to the whole cluster: the',
    '-- migration of another database may have created them, or may create them at this moment. An owner that may not create roles gets none, and',
    '-- no policies and grants for them. The roles of interfaces come with add_interface().',
    'do $do$',
    'declare',
    '  own record;',
    '  app text;',
    'begin',
    `  foreach app in array array[${apps.map(literalOf).join(', ')}] loop`,
    '    if to_regrole(quote_ident(role_name(app))) is null then',
    '      begin',
    "        execute format('create role %I nologin', role_name(app));",
    '      exception',
    '        when duplicate_object or unique_violation then',
    '          null;',
    '        when insufficient_privilege then',
    "          raise warning 'The login % may not create the role %, so logins of it have no rights and row-level security does not apply.',",
    '            session_user, role_name(app);',
    '      end;',
    '    end if;',
    '  end loop;',
    '',
    '  for own in',
    '    select p.*, quote_ident(role_name(p.app)) as own_role',
    '    from (values',
    ...schema.policies.map(({ name, table, role, words }, index) => {
      const app = apps.find((each) => roleOf[each] === role);
      if (app === undefined) throw new Error(`The policy ${name} of ${table} is for another role.`);
      const cells = [app, table, name].map(literalOf).join(', ');
      const end = index < schema.policies.length - 1 ? ',' : '';
      const text = simplify(words).replaceAll(/\s+/g, ' ');
      return `      (${cells}, ${text.includes("'") ? `$$${text}$$` : literalOf(text)})${end}`;
    }),
    '    ) as p (app, relation, name, words)',
    '    where to_regrole(quote_ident(role_name(p.app))) is not null',
    '  loop',
    "    execute format('create policy %I on %I %s', own.name, own.relation, replace(own.words, '{role}', own.own_role));",
    '  end loop;',
    '',
    '  for own in',
    '    select g.words, quote_ident(role_name(g.app)) as own_role',
    '    from (',
    ...apps.flatMap((app, index) => {
      const isFirst = index === 0;
      const lines = grantsOf(roleOf[app], schema).join('\n');
      const as = (name: string) => (isFirst ? ` as ${name}` : '');
      return [
        `      ${isFirst ? '' : 'union all '}select ${literalOf(app)}${as('app')},`,
        `        unnest(string_to_array($$${lines}$$, E'\\n'))${as('words')}`,
      ];
    }),
    '    ) g',
    '    where to_regrole(quote_ident(role_name(g.app))) is not null',
    '  loop',
    "    execute format('grant %s to %s', own.words, own.own_role);",
    '  end loop;',
    'end',
    '$do$;',
  ];
}
