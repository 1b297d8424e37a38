export { neededPart } from './needed-part.ts';
export { createRenderer, renderingsOf } from './renderer.ts';
