import { startOfDay, sunsetTime } from '@deedwire/domain';
import type { Documentation } from '../documentation.ts';

/** The announced end of a version. Both are the first moment of a day, in UTC. */
export interface Deprecation {
  deprecatedAt: Date;
  /** From here on it is not served. */
  sunsetAt: Date;
}

/** @returns null when a day is missing or is none. */
export function readDeprecation(days: { deprecatedOn: string | null; sunsetOn: string | null }): Deprecation | null {
  const deprecatedAt = startOfDay(days.deprecatedOn);
  const sunsetAt = sunsetTime(days);
  return deprecatedAt && sunsetAt && { deprecatedAt, sunsetAt };
}

/** RFC 9745 (`Deprecation`, a date as a structured field; its link relation) and RFC 8594 (`Sunset`, an HTTP-date). */
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
