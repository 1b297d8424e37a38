export {
  type ChangeOptions,
  defineVersion,
  idempotencyErrorCodes,
  inputError,
  type OpenChange,
  type OwnVersion,
  type RequestCaller,
  type ResolverContext,
  type Sql,
  type VersionParts,
  type VersionTypes,
} from '@deedwire/graphql-server/own';
