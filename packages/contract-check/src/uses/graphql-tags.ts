import { nodesIn, type Node } from '../api/signature.ts';

/** Tells whether an expression is a function that takes GraphQL. */
export type IsTag = (expression: unknown) => boolean;

const tagNames = ['gql', 'graphql'];
// Their default export is `gql`, as are their namespaces in modules of CommonJS.
const tagModules = new Set(['graphql-tag', 'graphql-tag.macro']);
// Their `graphql` takes a schema, or a document that is read where it is written.
const otherModules =
  /^(?:graphql|@nestjs\/graphql|react-apollo|@apollo\/react-hoc|@apollo\/client\/react\/hoc)(?:\/|$)/;

/**
 * The functions of a file with the name `gql` or `graphql`, and those that it declares as such: by imports, `require`, or
 * `initGraphQLTada`. What a module exports that has a function of another kind, such as that of graphql-js, is none.
 */
export function tagFinder(nodes: readonly Node[]): IsTag {
  const [tags, others] = [new Set(tagNames), new Set<string>()];
  const isTag: IsTag = (expression) =>
    nodesIn(expression)
      .map(unwrapped)
      .some(({ type, name, object, property }) => {
        if (type === 'Identifier') return tags.has(String(name));
        const [owner, member] = [nameOf(object), nameOf(property)];
        if (others.has(owner) || otherModules.test(moduleIn(object))) return false;
        return tagNames.includes(member) || (member === 'default' && tags.has(owner));
      });
  for (const { local, imported, from, owner } of nodes.flatMap(bindingsOf).filter(isNamed)) {
    if (otherModules.test(from) || others.has(owner)) {
      tags.delete(local);
      others.add(local);
    } else if (tagNames.includes(imported) || (tagModules.has(from) && ['default', '*'].includes(imported)))
      tags.add(local);
  }
  for (const { init, local } of nodes.flatMap(declarationsOf).filter(isNamed))
    if (isTag(init) || calledIn(init) === 'initGraphQLTada') tags.add(local);
  return isTag;
}

/** An expression without what TypeScript or Flow says about its type, and without what precedes it: `(0, gql)`. */
export function unwrapped(node: Node): Node {
  let inner = node;
  for (;;) {
    const isTyped =
      /^(?:TS(?:As|Satisfies|NonNull|Instantiation)|As|AsConst|TypeCast)Expression$|^TSTypeAssertion$/.test(inner.type);
    const next = isTyped
      ? nodesIn(inner['expression'])[0]
      : nodesIn(inner.type === 'SequenceExpression' && inner['expressions']).at(-1);
    if (next === undefined) return inner;
    inner = next;
  }
}

/** Not a pattern. */
function isNamed({ local }: { readonly local: string }): boolean {
  return local !== '';
}

function declarationsOf({ type, id, init }: Node) {
  return type === 'VariableDeclarator' ? [{ local: nameOf(id), init }] : [];
}

interface Binding {
  readonly local: string;
  /** `*` for the whole module. */
  readonly imported: string;
  readonly from: string;
  /** The variable that is read instead of a module. */
  readonly owner: string;
}

/** The names that a declaration gives to what a module exports. */
function bindingsOf(node: Node): Binding[] {
  if (node.type === 'ImportDeclaration')
    return nodesIn(node['specifiers']).map(({ type, local, imported }) => ({
      local: nameOf(local),
      imported: type === 'ImportSpecifier' ? nameOf(imported) : type === 'ImportDefaultSpecifier' ? 'default' : '*',
      from: nameOf(node['source']),
      owner: '',
    }));
  if (node.type === 'TSImportEqualsDeclaration') {
    const [from = ''] = nodesIn(node['moduleReference']).map(({ expression }) => nameOf(expression));
    return [{ local: nameOf(node['id']), imported: '*', from, owner: '' }];
  }
  if (node.type !== 'VariableDeclarator') return [];
  const [init] = nodesIn(node['init']).map(unwrapped);
  const whole = init?.['object'] ?? init;
  const [from, owner] = [moduleIn(whole), nameOf(whole)];
  return nodesIn(node['id']).flatMap(({ type, name, properties }) =>
    type === 'Identifier'
      ? [{ local: String(name), imported: nameOf(init?.['property']) || '*', from, owner }]
      : nodesIn(properties).map(({ key, value }) => ({ local: nameOf(value), imported: nameOf(key), from, owner })),
  );
}

/** The name of the module in `require("a")`, `await import("a")` and `__importDefault(require("a"))`. Otherwise empty. */
function moduleIn(expression: unknown): string {
  const [node] = nodesIn(expression).map(unwrapped);
  if (node?.type === 'AwaitExpression') return moduleIn(node['argument']);
  const [argument] = nodesIn(node?.['arguments']);
  if (argument?.type !== 'StringLiteral') return argument === undefined ? '' : moduleIn(argument);
  return ['require', 'import'].includes(calledIn(node)) ? nameOf(argument) : '';
}

/** The name of the function that is called. Otherwise empty. */
function calledIn(expression: unknown): string {
  const [callee] = nodesIn(expression)
    .map(unwrapped)
    .flatMap(({ callee: called }) => nodesIn(called));
  if (callee?.type === 'Import') return 'import';
  return nameOf(callee?.['property'] ?? callee);
}

function nameOf(node: unknown): string {
  return nodesIn(node)
    .map(unwrapped)
    .map(({ name, value }) => [name, value].find((each) => typeof each === 'string') ?? '')
    .join('');
}
