/** What composes a contract that is not in a schema package. */
export { costsOf, type Manifest } from '../reference/manifest.ts';
export { fileExists, readText } from '../workspace-files.ts';
export { composeManifest, type Sections } from './compose-manifest.ts';
export { composeSdl } from './compose-sdl.ts';
export { commonFolder, readEditions } from './editions.ts';
export { fillSlots } from './fill-slots.ts';
