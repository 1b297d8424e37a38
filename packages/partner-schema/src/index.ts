export type { SchemaVersion, SchemaVersionStatus } from './contract.ts';
export { UnknownVersionError } from './unknown-version-error.ts';
export { sdl, versions } from './versions.ts';
