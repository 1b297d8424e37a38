/**
 * Lifecycle status of a version.
 *
 * - `preview`: not released. It can still change in breaking ways. Only clients that choose it are served it.
 * - `current`: released. It changes only in backward-compatible ways.
 * - `deprecated`: released, with a sunset date, `sunsetOn`.
 * - `retired`: no longer served.
 */
export type SchemaVersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

export interface SchemaVersion {
  /** The date that names the version, for example `2026-11-01`. */
  readonly version: string;
  readonly status: SchemaVersionStatus;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`, the first day in UTC on which the version is no longer served. Null if no sunset is planned. */
  readonly sunsetOn: string | null;
}

/** Every version of the INTERFACE interface, oldest first. */
export const versions: readonly SchemaVersion[] = [
  // VERSIONS
];
