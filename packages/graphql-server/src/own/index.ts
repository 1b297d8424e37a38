/** What an application uses. The declarations need those of Pothos and graphql, and nothing of the platform. */
export { idempotencyErrorCodes, inputError } from '@deedwire/actions/errors';
export type { OwnVersion } from '@deedwire/core';
export type { ChangeOptions, OpenChange } from './change-types.ts';
export { defineVersion, type VersionParts } from './define-version.ts';
export type { RequestCaller, ResolverContext, Sql, VersionTypes } from './version-types.ts';
