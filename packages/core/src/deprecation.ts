import { startOfDay, sunsetTime } from './version-lifecycle.ts';

/** The announced end of a version. Both times are the start of a day in UTC. */
export interface Deprecation {
  deprecatedAt: Date;
  /** The version is no longer served from this time on. Null if no sunset is planned. */
  sunsetAt: Date | null;
}

/** The URLs that the `Link` header of a deprecated version points to. */
export interface DeprecationDocumentation {
  deprecation: string;
  sunset: string;
}

/** Returns null if the day of the deprecation is missing or not a date. */
export function readDeprecation(days: { deprecatedOn: string | null; sunsetOn: string | null }): Deprecation | null {
  const deprecatedAt = startOfDay(days.deprecatedOn);
  return deprecatedAt && { deprecatedAt, sunsetAt: sunsetTime(days) };
}

/**
 * @param base the URL where the folder `docs` of this repository is published, without a trailing slash. Without it, there are
 * no links.
 */
export function deprecationDocumentationAt(base: string | undefined): DeprecationDocumentation | null {
  if (base === undefined) return null;
  return {
    // The anchors that Markdown renderers generate from the headings.
    deprecation: `${base}/versions.md#detect-a-deprecated-version`,
    sunset: `${base}/versions.md#move-to-a-newer-version`,
  };
}

/**
 * The headers that announce the end of a version: in the responses of an interface, and in the deliveries of an event
 * version. RFC 9745 defines `Deprecation`, a structured field, and its link relation; RFC 8594 defines `Sunset`, an
 * HTTP-date, and its link relation. Without a sunset, both are omitted. Without documentation, `Link` is.
 */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: Deprecation,
  documentation: DeprecationDocumentation | null,
): Record<string, string> {
  const links = [
    `<${documentation?.deprecation}>; rel="deprecation"`,
    ...(sunsetAt === null ? [] : [`<${documentation?.sunset}>; rel="sunset"`]),
  ];
  return {
    Deprecation: `@${deprecatedAt.getTime() / 1000}`,
    ...(sunsetAt && { Sunset: sunsetAt.toUTCString() }),
    ...(documentation && { Link: links.join(', ') }),
  };
}
