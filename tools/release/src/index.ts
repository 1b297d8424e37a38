export { composeDeclarations, composePackage } from './compose-package.ts';
export { cutVersions } from './cut-versions.ts';
export {
  addedIn,
  readContracts,
  readRecords,
  releasedStatus,
  unreleasedRecord,
  type RecordedChange,
  type ReleaseRecord,
  type ReleaseRecords,
  type SubjectRecord,
} from './release-record.ts';
export { findUndeclared } from './packed-changes.ts';
export { readWorkspacePackages } from './plan.ts';
export { packPublicPackages, packRelease, release } from './publish.ts';
export { openRegistry } from './registry.ts';
export { mapElements } from './sdl-elements.ts';
export { ReleaseError } from './release-error.ts';
