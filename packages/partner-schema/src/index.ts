export { abilities, type OperationAbilities } from './generated/abilities.ts';
export { costs, type OperationCosts } from './generated/costs.ts';
export type { Manifest, ManifestLimit, ManifestResponseHeader } from './generated/manifest.ts';
export { sdl } from './generated/sdl.ts';
export { UnknownVersionError } from './generated/unknown-version-error.ts';
export { versions, type SchemaVersion, type SchemaVersionStatus } from './generated/versions.ts';
