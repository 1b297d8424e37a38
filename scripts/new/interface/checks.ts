import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceNames, interfaces } from '../../../packages/domain/src/interfaces.ts';
import { definitionsOf, newestSdl } from './contract.ts';
import { formsOf } from './forms.ts';

const nameMaxLength = 32;

/**
 * Words of SQL, JavaScript, the SDL, the operator's commands and the files of `pnpm dev`, which a name must not be. Relations of the
 * database are taken too.
 */
const reserved = new Set(
  `admin all analyse analyze and any api app arguments array as asc asymmetric async authorization await between bigint binary
  bit boolean both break case cast catch char character check class coalesce code collate collation column concurrently const
  constraint continue create cross current current_catalog current_date current_role current_schema current_time
  current_timestamp current_user date debugger dec decimal default deferrable delete desc dev directive distinct do else end
  enum error eval event except exists export extend extends extract false fetch field finally float for foreign fragment
  freeze from full function get goto grant greatest group grouping having help id if ilike implements import in initially
  inner inout input insert instanceof int integer interface intersect interval into is isnull join key lateral leading least
  left let like limit localtime localtimestamp merge_action mutation name national natural nchar new node none normalize not
  notnull null nullif numeric of offset on only operator or order out outer overlaps overlay package pg placing position
  precision primary private protected public query real references repeatable return returning right row scalar schema select
  service session session_user set setof similar smallint some static string subscription substring super switch symmetric
  system system_user table tablesample test then this throw time timestamp to trailing treat trim true try type typeof
  undefined union unique update user using values var varchar variadic verbose version void webhook webhooks when where while
  window with worker yield`.split(/\s+/),
);

/** What is wrong with the name of a new interface, or true. */
export function checkName(root: string, name: string): string | true {
  const { snake, camel } = formsOf(name, '', '');
  if (interfaceNames.some((known) => known === name))
    return `The ${name} interface exists. To add a version, run pnpm new interface-version ${name} <version>.`;
  if (!/^[a-z]+(?:-[a-z]+)*$/.test(name))
    return `${JSON.stringify(name)} is not a name of an interface. Write small letters, and hyphens between words, for example billing-statement.`;
  if (name.length > nameMaxLength)
    return `"${name}" has ${name.length} characters. The name of an interface has at most ${nameMaxLength}, because roles and tables contain it.`;
  const nouns = globSync('apps/operator-cli/src/commands/*.ts', { cwd: root }).map((file) => file.slice(31, -3));
  const isAmbiguous = /^(?:(?:webhook|pg|portal)-|json|xml)|-(?:api|interface|schema)$/.test(name);
  if (
    reserved.has(snake) ||
    nouns.includes(name) ||
    camel in Object.prototype ||
    isAmbiguous ||
    // Reads many files.
    isCopied(root, name)
  )
    return `"${name}" is a word of SQL, JavaScript, GraphQL, the operator's commands or this repository. Choose another name.`;
  const taken = [
    `apps/${name}-api/package.json`,
    `packages/${name}-schema/package.json`,
    `packages/store/src/${name}.ts`,
    `packages/actions/src/${name}.ts`,
  ]
    .concat(globSync(`packages/webhook-events/src/${snake}.*`, { cwd: root }))
    .find((path) => existsSync(join(root, path)));
  if (taken !== undefined) return `The name "${name}" is taken by ${taken}. Choose another name.`;
  // Names of keys and sequences begin with that of their table. All relations share one namespace, with the types.
  const parts = /_(?:p?key|seq)$/.test(snake) ? snake.split('_') : [];
  const names = [snake, ...parts.map((_, index) => parts.slice(0, index + 1).join('_'))].join('|');
  const relation = new RegExp(
    String.raw`^ *create (?:unlogged |unique )?(table|view|index|sequence|type) (?:concurrently )?(?:if not exists )?(?:${names})\b`,
    'm',
  );
  for (const path of globSync('packages/store/{migrations/*.sql,src/migrate.ts}', { cwd: root })) {
    const [, kind] = relation.exec(readFileSync(join(root, path), 'utf8')) ?? [];
    if (kind !== undefined) return `The name "${name}" is taken by the ${kind} ${snake}. Choose another name.`;
  }
  return true;
}

/** Whether what all interfaces have contains the name as a word, which would be replaced when the interface is copied. */
function isCopied(root: string, name: string): boolean {
  const word = new RegExp(String.raw`\b${name.replaceAll('-', '[ -]')}\b`);
  return interfaceNames.every((known) => {
    const files = [
      `packages/${known}-schema/{package.json,{versions,examples/*}/*}`,
      `apps/${known}-api/{README.md,*.json,src/*.ts}`,
    ];
    return globSync(files, { cwd: root }).some((path) => word.test(readFileSync(join(root, path), 'utf8')));
  });
}

export function checkTitle(title: string): string | true {
  if (Object.values(interfaces).some((known) => known.title.toLowerCase() === title.toLowerCase()))
    return `The title "${title}" is that of another interface. Choose another one.`;
  return /^[A-Z][A-Za-z]*(?: [A-Za-z]+)*$/.test(title) && title.length <= nameMaxLength
    ? true
    : `${JSON.stringify(title)} is not a title. Write at most ${nameMaxLength} letters and spaces, the first one a capital, for example "Billing statement".`;
}

/** Whether the code that new modules share a scope with has one of these identifiers. */
function isNamed(root: string, identifiers: readonly string[]): boolean {
  const files = ['domain/src/record-id.ts', 'actions/src/index.ts', 'graphql-server/src/index.ts'].map((file) =>
    join(root, 'packages', file),
  );
  const templates = ['action.ts.tpl', 'schema.ts.tpl'].map((file) => join(import.meta.dirname, file));
  const found = new RegExp(String.raw`\b(?:${identifiers.join('|')})\b`);
  return [...files, ...templates].some((file) =>
    found.test(readFileSync(file, 'utf8').replaceAll(/\/\*\*[^]*?\*\/|\/\/.*/g, '')),
  );
}

/** Of SDL, TypeScript, and the operator's commands. */
const others =
  `Awaited Exclude Extract Float ID Int Listener NonNullable Omit Parameters Partial Pick Readonly Record Required
  ReturnType Subscription`.split(/\s+/);

/** What is wrong with the type of its accounts, or true. */
export function checkAccount(root: string, account: string, name: string): string | true {
  if (!/^[A-Z][A-Za-z]*$/.test(account) || account.length > nameMaxLength)
    return `${JSON.stringify(account)} is not a type. Write at most ${nameMaxLength} letters, the first one a capital, for example VendorAccount.`;
  const { pascal } = formsOf(name, account, '');
  const known = interfaceNames.flatMap((other) => [
    ...definitionsOf(newestSdl(root, other).text).keys(),
    ...interfaces[other].records,
    interfaces[other].accountType,
    ...globSync(`packages/${other}-schema/src/generated/*.ts`, { cwd: root }).flatMap(
      (path) => readFileSync(join(root, path), 'utf8').match(/(?<=^export \w+ )\w+/gm) ?? [],
    ),
  ]);
  const isKnown =
    // Identifiers of both would differ in case only.
    [...known, ...others].some((type) => type.toLowerCase() === account.toLowerCase()) ||
    isNamed(root, [account, `add${account}`, `read${account}`]) ||
    account in globalThis;
  return isKnown || new RegExp(`^(?:Mutation)?Update${pascal}(?:Args|Input|Payload|UserError)`).test(account)
    ? `The type ${account} exists. Choose another one, for example ${pascal}Account.`
    : true;
}
