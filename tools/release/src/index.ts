export { checkReleased } from './check-released.ts';
export { cutVersions } from './cut-versions.ts';
export { release } from './publish.ts';
export { openRegistry } from './registry.ts';
export { ReleaseError } from './release-error.ts';
