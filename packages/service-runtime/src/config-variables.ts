import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connectionProtection, DatabaseUrlError } from '@deedwire/store';
import { z } from 'zod';
import { readRange } from './address-ranges.ts';

/** A whole number in decimal digits, without sign and exponent. */
export function wholeNumberVariable({ min, max }: { min: number; max: number }) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number(error).min(min, error).max(max, error));
}

/**
 * An address to listen on, as Node takes it. `::` is every address of IPv6 and IPv4, and a subnet is the address of this machine in it.
 */
export function hostVariable() {
  return z.string().transform((text, context) => {
    const host = text.replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) !== 0 || /^[\w-]+(?:\.[\w-]+)*\.?$/.test(host)) return host;
    const subnet = readRange(host);
    if (subnet === null) {
      context.addIssue('must be an IP address, a subnet or a host name without a port; :: is every address');
      return z.NEVER;
    }
    const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
    const found = own.find((address) => subnet.includes(address));
    if (found !== undefined) return found;
    context.addIssue(`must contain an address of this machine, which has ${own.join(', ')}`);
    return z.NEVER;
  });
}

/** What is wrong with a URL, whatever it is for. Null if it begins with one of the schemes. */
export function urlProblem(text: string, schemes: readonly string[]): string | null {
  if (/^["'`].*["'`]$/s.test(text)) return 'must not be in quotes';
  const beginnings = schemes.map((scheme) => `${scheme}://`);
  if (beginnings.some((beginning) => text.toLowerCase().startsWith(beginning))) return null;
  return `must be a URL that begins with ${beginnings.join(' or ')}`;
}

/** Why a URL that begins well cannot be read. */
export const unreadableUrl =
  'is not a readable URL; check its host and port, and in a user name and a password write %23 for #, %2F for /, %3F for ? and %25 for %';

/** A URL with one of these schemes. */
export function urlVariable(...schemes: [string, ...string[]]) {
  return z.string().superRefine((text, context) => {
    const problem = urlProblem(text, schemes) ?? (URL.canParse(text) ? null : unreadableUrl);
    if (problem !== null) context.addIssue(problem);
  });
}

/** The origin under which browsers reach the portal. `http` is for this machine only. */
export function portalOriginVariable() {
  return z
    .string()
    .refine(
      (text) =>
        URL.canParse(text) &&
        new URL(text).origin === text &&
        /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$))/.test(text),
      'must be an origin such as https://portal.example.com, without a path; http:// only with localhost, 127.0.0.1 or [::1]',
    );
}

/** Refuses plain HTTP in production. For `superRefine`. */
export function checkPortalOrigin(
  { NODE_ENV, PORTAL_ORIGIN }: { NODE_ENV: string; PORTAL_ORIGIN?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (NODE_ENV !== 'production' || PORTAL_ORIGIN?.startsWith('http://') !== true) return;
  const message = 'must be an origin with https:// unless NODE_ENV is development or test';
  context.addIssue({ code: 'custom', path: ['PORTAL_ORIGIN'], message });
}

const databaseSchemes = ['postgres', 'postgresql'];
const databaseForm = 'postgres://user:password@host:5432/database';

/** Forms that other clients of PostgreSQL take. */
const otherForms: readonly [RegExp, string][] = [
  [/^jdbc:/i, `must not begin with jdbc:; write ${databaseForm}`],
  [/^postgres(?:ql)?\+\w+:/i, `must not name a driver after the scheme; write ${databaseForm}`],
  [/^\w+\s*=/, `must not be a list of keywords; write ${databaseForm}`],
];

/** The URL of a PostgreSQL database, with which pg can connect. */
export function databaseUrlVariable() {
  return z.string().superRefine((url, context) => {
    const otherForm = otherForms.find(([form]) => form.test(url))?.[1];
    const problem = otherForm ?? urlProblem(url, databaseSchemes) ?? databaseUrlProblem(url);
    if (problem !== null) context.addIssue(problem);
  });
}

function databaseUrlProblem(url: string): string | null {
  // pg would take what precedes it for the host.
  if (url.includes('#')) return unreadableUrl;
  try {
    connectionProtection(url);
    return null;
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error;
    return error.cause instanceof TypeError || error.cause instanceof URIError ? unreadableUrl : error.message;
  }
}
