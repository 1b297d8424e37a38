export { abilities, type OperationAbilities } from './generated/abilities.ts';
export { costs, type OperationCosts } from './generated/costs.ts';
export { sdl } from './generated/sdl.ts';
export { type SchemaVersion, versions } from './generated/versions.ts';
