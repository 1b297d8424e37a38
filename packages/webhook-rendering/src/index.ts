export { neededPart } from './needed-part.ts';
export { createRenderer, knownEventVersions } from './renderer.ts';
