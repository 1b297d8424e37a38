import { connectionProtection, DatabaseUrlError } from '@deedwire/store';
import { z } from 'zod';

/** A whole number in decimal digits, without sign and exponent. */
export function wholeNumberVariable({ min, max }: { min: number; max: number }) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number(error).min(min, error).max(max, error));
}

/** A URL with one of these schemes. */
export function urlVariable(...schemes: [string, ...string[]]) {
  const error = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z.string().refine((text) => schemes.includes(URL.parse(text)?.protocol.slice(0, -1) ?? ''), error);
}

/** The URL of a PostgreSQL database, with which pg can connect. */
export function databaseUrlVariable() {
  return urlVariable('postgres', 'postgresql').superRefine((url, context) => {
    try {
      connectionProtection(url);
    } catch (error) {
      if (!(error instanceof DatabaseUrlError)) throw error;
      context.addIssue(error.message);
    }
  });
}
