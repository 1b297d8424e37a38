export { abilities } from './generated/abilities.ts';
export { costs } from './generated/costs.ts';
export { sdl } from './generated/sdl.ts';
export { versions } from './generated/versions.ts';
