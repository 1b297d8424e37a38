export { type ErrorCode, errorTable, type ResponseMediaType } from './errors/error-table.ts';
export {
  createGraphqlHandler,
  type GraphqlHandler,
  type GraphqlHandlerOptions,
  type RequestLimits,
  requestLimits,
} from './graphql-handler.ts';
export { defineVersion, type InterfaceVersion, type VersionStatus } from './versions/interface-version.ts';
