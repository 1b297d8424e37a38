export { checkReleased } from './check-released.ts';
export { cutVersions } from './cut-versions.ts';
export {
  addedIn,
  currentContracts,
  readRecords,
  recordOf,
  releasedContracts,
  type RecordedChange,
  type ReleaseRecord,
  type ReleaseRecords,
  type SubjectRecord,
} from './release-record.ts';
export { packRelease, release } from './publish.ts';
export { openRegistry } from './registry.ts';
export { ReleaseError } from './release-error.ts';
