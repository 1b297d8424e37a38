import { type Bytes, hexBytes, looseBase64 } from './bytes.ts';
import { detailed, type Finding } from './findings.ts';

/** The headers of the service's own scheme, in lower case. */
export interface ServiceHeaderNames {
  signature: string;
  nextSignature: string;
  timestamp: string;
}

/** @param prefix for example `X-Service` */
export function serviceHeaderNames(prefix: string): ServiceHeaderNames {
  const start = `${prefix.toLowerCase()}-webhook`;
  return { signature: `${start}-signature`, nextSignature: `${start}-signature-next`, timestamp: `${start}-timestamp` };
}

export const standardHeaderNames = ['webhook-signature', 'webhook-id', 'webhook-timestamp'] as const;

/** The headers of both schemes, with what is odd about them undone. */
export interface SchemeHeaders {
  /** Trimmed, without quotation marks. Empty if the header is missing. More than one if it occurs more than once. */
  values: ReadonlyMap<string, readonly string[]>;
  findings: readonly Finding[];
}

// Longer than any value that Deedwire sends. Keeps the patterns below fast.
const lengthMax = 1_000;

/** The name that a server may have made `HTTP_WEBHOOK_ID` of. */
const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^http-/, '');

/** @param service null: its headers are not read */
export function readSchemeHeaders(
  headers: readonly (readonly [name: string, value: string])[],
  service: ServiceHeaderNames | null,
): SchemeHeaders {
  const findings: Finding[] = [];
  const values = new Map<string, readonly string[]>();
  for (const name of [...Object.values({ ...service }), ...standardHeaderNames]) {
    const exact = headers.filter(([captured]) => captured.toLowerCase() === name);
    const received = exact.length > 0 ? exact : headers.filter(([captured]) => plainName(captured) === name);
    const [first] = received;
    if (first === undefined) continue;
    if (exact.length === 0) findings.push(detailed.headerRenamed(name, first[0]));
    if (received.length > 1) findings.push(detailed.headerRepeated(name, received.length));
    if (received.some(([, value]) => value.length > lengthMax)) {
      findings.push(detailed.headerMalformed(`\`${name}\` is longer than ${lengthMax} characters.`));
      continue;
    }
    const cleaned = received.map(([, value]) => withoutQuotes(name, value.trim(), findings));
    if (received.some(([, value]) => value !== value.trim())) findings.push(detailed.headerWhitespace(name));
    values.set(name, [...new Set(cleaned)]);
  }
  return { values, findings };
}

function withoutQuotes(name: string, value: string, findings: Finding[]): string {
  const quoted = /^(["'])(.*)\1$/s.exec(value)?.[2];
  if (quoted === undefined) return value;
  findings.push(detailed.headerQuoted(name));
  return quoted;
}

/** The signatures of a scheme, as far as they can be read. */
export interface ReadSignatures {
  signatures: readonly Bytes[];
  findings: readonly Finding[];
}

const isSignature = (bytes: Bytes | null): bytes is Bytes => bytes?.length === 32;

/** Reads the values of the service's own signature or of its `-next`. */
export function readServiceSignatures(name: string, values: readonly string[]): ReadSignatures {
  const findings: Finding[] = [];
  const signatures: Bytes[] = [];
  for (const value of values) {
    const [, prefix, text = value] = /^([a-z0-9]{1,8}[=,])(.+)$/i.exec(value) ?? [];
    if (prefix !== undefined) findings.push(detailed.signaturePrefix(name, '64 lowercase hexadecimal digits'));
    const [hex, base64] = [hexBytes(text), looseBase64(text)];
    if (isSignature(hex)) {
      if (text !== text.toLowerCase()) findings.push(detailed.signatureEncoding('SIGNATURE_UPPER_CASE', name));
      signatures.push(hex);
    } else if (isSignature(base64)) {
      findings.push(detailed.signatureEncoding('SIGNATURE_BASE64', name));
      signatures.push(base64);
    } else {
      findings.push(detailed.headerMalformed(`\`${name}\` is not a signature of 64 lowercase hexadecimal digits.`));
    }
  }
  return { signatures, findings };
}

const form = '`v1,<base64>`';

/** Reads the values of `webhook-signature`. */
export function readStandardSignatures(values: readonly string[]): ReadSignatures {
  const name = 'webhook-signature';
  const findings: Finding[] = [];
  const signatures: Bytes[] = [];
  const otherVersions: string[] = [];
  for (const value of values) {
    const entries = value.split(/\s*,\s*(?=v\d\w{0,8}[,=])|\s+/);
    if (/,\s*v\d\w{0,8}[,=]/.test(value)) findings.push(detailed.headerJoined(name));
    else if (/\s{2,}|[^\S ]/.test(value)) findings.push(detailed.headerWhitespace(name));
    for (const entry of entries) {
      const [, version, separator, labelled] = /^(v\d\w{0,8})([,=:])(.*)$/.exec(entry) ?? [];
      if (version !== undefined && version !== 'v1') {
        otherVersions.push(version);
        continue;
      }
      if (separator !== ',') findings.push(detailed.signaturePrefix(name, form));
      const read = readStandardSignature(name, labelled ?? entry.replace(/^(?:sha256=|,)/, ''), findings);
      if (read !== null) signatures.push(read);
    }
  }
  if (otherVersions.length > 0 && signatures.length === 0) findings.push(detailed.signatureOtherVersion(otherVersions));
  return { signatures, findings };
}

function readStandardSignature(name: string, text: string, findings: Finding[]): Bytes | null {
  const [hex, base64] = [hexBytes(text), looseBase64(text)];
  if (isSignature(hex)) {
    findings.push(detailed.signatureEncoding('SIGNATURE_HEX', name));
    return hex;
  }
  if (!isSignature(base64)) {
    findings.push(detailed.headerMalformed(`\`${name}\` has an entry that is not the base64 of 32 bytes.`));
    return null;
  }
  if (/[-_]/.test(text) || !text.endsWith('=')) findings.push(detailed.signatureEncoding('SIGNATURE_BASE64URL', name));
  return base64;
}
