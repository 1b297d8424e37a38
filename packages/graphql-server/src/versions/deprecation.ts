import { startOfDay, sunsetTime } from '@deedwire/domain';
import type { Documentation } from '../documentation.ts';

/** The announced end of a version. Both times are the start of a day in UTC. */
export interface Deprecation {
  deprecatedAt: Date;
  /** The version is no longer served from this time on. */
  sunsetAt: Date;
}

/** Returns null if a day is missing or not a date. */
export function readDeprecation(days: { deprecatedOn: string | null; sunsetOn: string | null }): Deprecation | null {
  const deprecatedAt = startOfDay(days.deprecatedOn);
  const sunsetAt = sunsetTime(days);
  return deprecatedAt && sunsetAt && { deprecatedAt, sunsetAt };
}

/** RFC 9745 (`Deprecation` as a structured field, and the link relation) and RFC 8594 (`Sunset` as an HTTP-date). */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: Deprecation,
  documentation: Pick<Documentation, 'deprecation' | 'sunset'>,
): Record<string, string> {
  return {
    Deprecation: `@${deprecatedAt.getTime() / 1000}`,
    Sunset: sunsetAt.toUTCString(),
    Link: `<${documentation.deprecation}>; rel="deprecation", <${documentation.sunset}>; rel="sunset"`,
  };
}
