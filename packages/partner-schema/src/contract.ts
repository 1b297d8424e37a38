/**
 * Where a version stands in its life. `preview`: may still break, served only to those who name it. `current`: from now
 * on it only grows. `deprecated`: it has an end, `sunsetOn`. `retired`: it is not served any more.
 */
export type SchemaVersionStatus = 'preview' | 'current' | 'deprecated' | 'retired';

export interface SchemaVersion {
  /** The date that names the version, for example `2026-11-01`. */
  readonly version: string;
  readonly status: SchemaVersionStatus;
  /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
  readonly deprecatedOn: string | null;
  /** `YYYY-MM-DD`, the first day on which it is not served any more. Null when no end is planned. */
  readonly sunsetOn: string | null;
}

export interface Contract extends SchemaVersion {
  readonly sdl: string;
}
