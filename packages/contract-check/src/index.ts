export { createApiReports } from './api/create-api-reports.ts';
export { compareApiReports, type ApiOptions } from './api/compare-api-reports.ts';
export type { Change, Location, Notice, Report } from './change.ts';
export { RepositoryError } from './history/git.ts';
export type { WorkflowEnvironment } from './history/merge-base.ts';
export { InputError } from './input-error.ts';
export type { SourceText } from './text-file.ts';
export { compareVerdicts, isVerdict, largerVerdict, verdicts, type Verdict } from './verdict.ts';
export { compareGraphql, compareGraphqlFiles } from './graphql/compare-graphql.ts';
export type { GraphqlOptions } from './graphql/comparison.ts';
export { compareJsonSchemas } from './json-schema/compare-json-schema.ts';
export type { JsonSchemaOptions } from './json-schema/comparison.ts';
export type { Direction } from './json-schema/direction.ts';
export { compareManifests, type ManifestOptions } from './manifest/compare-manifests.ts';
export {
  readManifest,
  type Limit,
  type Manifest,
  type ManifestError,
  type RequestHeader,
  type ResponseHeader,
} from './manifest/manifest.ts';
export type { ContractException, ExceptionStatus, ReportedException } from './workspace/exceptions.ts';
export {
  checkWorkspace,
  type PackageReport,
  type Problem,
  type WorkspaceOptions,
  type WorkspaceReport,
} from './workspace/check-workspace.ts';
export type { ContractChange } from './workspace/compare-snapshots.ts';
