import { DirectiveLocation, type GraphQLSchema } from 'graphql';

// What each client removes before it sends a document. Not `@defer`, `@stream`, and `@stream_connection` of Relay, which becomes
// `@stream`: a server that lacks them refuses the document. The client preset of GraphQL Code Generator adds none.

/** What has one of these is not sent: of Apollo Client and of apollo-link-rest. */
export const localDirectives: ReadonlySet<string> = new Set(['client', 'rest']);

/** Apollo Client: `getDocumentInfo` in core/QueryManager.ts. `@export` is inside of `@client`, and `@type` of `@rest`. */
const apollo = ['connection', 'export', 'nonreactive', 'type', 'unmask'];

/** Relay: compiler/crates/relay-schema/src/relay-extensions.graphql, and those of the arguments of fragments. */
const relay = [
  'DEPRECATED__relay_ignore_unused_variables_error',
  'alias',
  'appendEdge',
  'appendNode',
  'argumentDefinitions',
  'arguments',
  'assignable',
  'catch',
  'connection',
  'dangerously_unaliased_fixme',
  'deleteEdge',
  'deleteRecord',
  'exec_time_resolvers',
  'inline',
  'match',
  'module',
  'no_inline',
  'preloadable',
  'prependEdge',
  'prependNode',
  'raw_response_type',
  'refetchable',
  'relay',
  'relay_test_operation',
  'required',
  'throwOnFieldError',
  'uncheckedArguments_DEPRECATED',
  'updatable',
  'waterfall',
];

/** Houdini: plugins/graphql/conventions.go, and three of its plugin for Svelte. */
const houdini = [
  'allLists',
  'append',
  'arguments',
  'blocking',
  'cache',
  'componentField',
  'dedupe',
  'endpoint',
  'includeListID',
  'list',
  'listID',
  'load',
  'loading',
  'manual_load',
  'mask_disable',
  'mask_enable',
  'optimisticKey',
  'paginate',
  'parentID',
  'plural',
  'prepend',
  'refetch',
  'refetchable',
  'required',
  'session',
  'when',
  'when_not',
  'with',
];

/** urql: exchanges/populate. Its core removes all that begin with `_`, such as `@_optional`, and `@_unmask` of gql.tada. */
const urql = ['populate'];

/** What has one of these is sent with more than the documents contain, for example ids: compilers and `@populate` add it. */
export const expandingDirectives: ReadonlySet<string> = new Set(
  [...relay, ...houdini, ...urql].filter((name) => !apollo.includes(name)),
);

const executable = new Set<DirectiveLocation>([
  DirectiveLocation.QUERY,
  DirectiveLocation.MUTATION,
  DirectiveLocation.SUBSCRIPTION,
  DirectiveLocation.FIELD,
  DirectiveLocation.FRAGMENT_DEFINITION,
  DirectiveLocation.FRAGMENT_SPREAD,
  DirectiveLocation.INLINE_FRAGMENT,
  DirectiveLocation.VARIABLE_DEFINITION,
]);

/** Tells the directives of a client from those that are sent. */
export type IsClientDirective = (name: string) => boolean;

/** Whether documents may contain a directive of the schema. What a server has for its own definitions is unknown to clients. */
export function definesForDocuments(schema: GraphQLSchema, name: string): boolean {
  return schema.getDirective(name)?.locations.some((location) => executable.has(location)) === true;
}

/** @param ignored directives that are removed as well */
export function clientDirectivesOf(schema: GraphQLSchema, ignored: readonly string[]): IsClientDirective {
  const removed = new Set([...localDirectives, ...apollo, ...relay, ...houdini, ...urql, ...ignored]);
  // Houdini has `@User_delete` for each type.
  const deletes = (name: string): boolean => {
    const [, type] = /^(.+)_delete$/.exec(name) ?? [];
    return type !== undefined && schema.getType(type) !== undefined;
  };
  return (name) => !definesForDocuments(schema, name) && (removed.has(name) || name.startsWith('_') || deletes(name));
}
