import {
  verifyWebhook,
  webhookSecretProblem,
  WebhookUsageError,
  WebhookVerificationError,
  type WebhookUsageErrorCode,
  type WebhookVerificationErrorCode,
} from '@deedwire/webhook-signing/web';
import { bodyVariants, type ContractOrder } from './body-variants.ts';
import { type Bytes, isEqual, startsWith, utf8Text } from './bytes.ts';
import type { CapturedRequest } from './captured-request.ts';
import { detailed, type Finding, finding } from './findings.ts';
import {
  readSchemeHeaders,
  readServiceSignatures,
  readStandardSignatures,
  type ServiceHeaderNames,
  serviceHeaderNames,
  standardHeaderNames,
} from './scheme-headers.ts';
import { secretVariants } from './secret-variants.ts';
import {
  type Match,
  type SchemeName,
  type SearchedBody,
  type SearchedScheme,
  type SearchedSecret,
  searchSignature,
} from './signature-search.ts';

export interface DiagnosisInput {
  request: CapturedRequest;
  /** The secrets that the receiver has, as it has them. They are tried in this order. */
  secrets: readonly string[];
  /** When the request arrived. */
  receivedAt: Date;
  /** The largest accepted difference between the timestamp and `receivedAt`, in seconds. Defaults to 300. */
  toleranceSeconds?: number;
  /** The body that Deedwire sends for the delivery. Null if it is not known. */
  sentBody?: Bytes | null;
  /** As that of `verifyWebhook`. */
  prefix?: string | undefined;
  /** Without it, fields in another order are recognized by `sentBody` only. */
  order?: ContractOrder;
}

export interface Diagnosis {
  /** Whether `verifyWebhook` accepts the request, with these secrets and at this time. */
  isAccepted: boolean;
  /** The code with which `verifyWebhook` rejects the request. Null if it accepts it. */
  rejection: WebhookVerificationErrorCode | WebhookUsageErrorCode | null;
  /** The secrets of which a signature was found, including one that matches only after changes. 1 is the first one. */
  matchingSecrets: number[];
  /** What is wrong. Not empty if the request is rejected; a finding about an accepted request is a warning. */
  findings: Finding[];
}

/**
 * Says what is wrong with a request that a receiver rejects. Undoes usual mistakes, one after the other and two at a time, until a
 * signature matches. Never throws for a request or a secret, whatever they contain, and names no secret and no signature.
 *
 * @throws {WebhookUsageError} `NOW_INVALID` or `TOLERANCE_INVALID`
 */
export async function diagnoseWebhook(input: DiagnosisInput): Promise<Diagnosis> {
  const { request, secrets, receivedAt, toleranceSeconds = 300, prefix, order = () => null } = input;
  const verifyWith = (some: readonly string[]) =>
    rejectionOf(verifyWebhook({ ...forVerifier(request), secret: some, now: receivedAt, toleranceSeconds, prefix }));
  const rejection = await verifyWith(secrets);
  if (rejection === null) {
    const single = await Promise.all(secrets.map((secret) => verifyWith([secret])));
    const matching = single.flatMap((problem, index) => (problem === null ? [index + 1] : []));
    const [only] = matching;
    const warnings =
      matching.length < secrets.length && only !== undefined ? [detailed.otherSecret(only, secrets.length)] : [];
    return {
      isAccepted: true,
      rejection: null,
      matchingSecrets: matching,
      findings: [...warnings, ...request.findings],
    };
  }
  const { findings, matchingSecrets } = await explain(input, toleranceSeconds, order);
  if (findings.length === 0) findings.push(detailed.headerMalformed(rejection.message));
  return { isAccepted: false, rejection: rejection.code, matchingSecrets, findings };
}

function forVerifier({ headers, body }: CapturedRequest): { headers: Record<string, string[]>; body: Bytes } {
  // Node 20 has no `Map.groupBy`.
  const byName = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    byName.set(key, [...(byName.get(key) ?? []), value]);
  }
  return { headers: Object.fromEntries(byName), body };
}

type Rejection = WebhookVerificationError | WebhookUsageError;

const ofCaller: ReadonlySet<string> = new Set<WebhookUsageErrorCode>(['NOW_INVALID', 'TOLERANCE_INVALID']);

async function rejectionOf(verification: Promise<unknown>): Promise<Rejection | null> {
  try {
    await verification;
    return null;
  } catch (error) {
    if (WebhookVerificationError.isInstance(error)) return error;
    if (WebhookUsageError.isInstance(error) && !ofCaller.has(error.code)) return error;
    throw error;
  }
}

interface ReadTimestamp {
  /** As in the header. */
  text: string;
  seconds: number | null;
}

interface Explanation {
  findings: Finding[];
  matchingSecrets: number[];
}

async function explain(input: DiagnosisInput, toleranceSeconds: number, order: ContractOrder): Promise<Explanation> {
  const { request, secrets, receivedAt, sentBody = null, prefix } = input;
  const service = prefix === undefined ? null : serviceHeaderNames(prefix);
  const { values, findings: ofHeaders } = readSchemeHeaders(request.headers, service);
  const findings = [...ofHeaders];
  const present: SchemeName[] = [];
  if (Object.values({ ...service }).some((name) => values.has(name))) present.push('service');
  if (standardHeaderNames.some((name) => values.has(name))) present.push('standard');
  if (present.length === 0) {
    findings.push(finding('SIGNATURE_MISSING', true, prefix), ...secretFindings(secrets), ...request.findings);
    return { findings, matchingSecrets: [] };
  }
  const required = {
    service: service === null ? [] : [service.signature, service.timestamp],
    standard: standardHeaderNames,
  };
  for (const scheme of present)
    for (const name of required[scheme]) if (!values.has(name)) findings.push(detailed.headerMissing(name));

  const timestamps = {
    service: service && readTimestamp(service.timestamp, values, findings),
    standard: readTimestamp('webhook-timestamp', values, findings),
  };
  const [ofService, ofStandard] = [timestamps.service?.seconds ?? null, timestamps.standard?.seconds ?? null];
  if (prefix !== undefined && ofService !== null && ofStandard !== null && ofService !== ofStandard)
    findings.push(detailed.timestampConflict(prefix, ofService, ofStandard));

  const schemes = present.map((name) => searchedScheme(name, service, values, timestamps, findings));
  const bodies = bodiesToSearch(request.body, sentBody, order);
  const candidates = secrets.flatMap((secret, index): SearchedSecret[] =>
    secretVariants(secret).map((variant) => ({ ...variant, index })),
  );
  const matches = new Map<SchemeName, Match | null>();
  for (const scheme of schemes) {
    if (scheme.signatures.length === 0) continue;
    matches.set(scheme.name, await searchSignature(scheme, candidates, bodies));
  }
  findings.push(...matchFindings(input, matches, values));
  // Last: `receivedAt` can be the time of the diagnosis.
  findings.push(...ageFindings(ofService ?? ofStandard, receivedAt, toleranceSeconds));
  return { findings: unique(findings), matchingSecrets: matchingOf(matches) };
}

function unique(findings: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ code, problem }, index) =>
      findings.findIndex((other) => other.code === code && other.problem === problem) === index,
  );
}

function matchingOf(matches: ReadonlyMap<SchemeName, Match | null>): number[] {
  const indexes = [...matches.values()].flatMap((match) => (match === null ? [] : [match.secretIndex + 1]));
  return [...new Set(indexes)].toSorted((a, b) => a - b);
}

function secretFindings(secrets: readonly string[]): Finding[] {
  return secrets.flatMap((secret) => {
    if (secret.trim() === '') return [finding('SECRET_EMPTY', true)];
    const [variant] = secretVariants(secret);
    if (variant !== undefined) return variant.codes.map((code) => finding(code, true));
    return [detailed.secretInvalid(webhookSecretProblem(secret) ?? '')];
  });
}

function readTimestamp(
  name: string,
  values: ReadonlyMap<string, readonly string[]>,
  findings: Finding[],
): ReadTimestamp | null {
  const [text] = values.get(name) ?? [];
  if (text === undefined) return null;
  if (/^\d{10}$/.test(text)) return { text, seconds: Number(text) };
  if (/^\d{13}$/.test(text)) {
    const seconds = Math.floor(Number(text) / 1_000);
    findings.push(detailed.timestampInMilliseconds(name, seconds));
    return { text, seconds };
  }
  findings.push(detailed.timestampMalformed(name));
  const ms = /^\d{10}\.\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  const seconds = Math.floor(ms / 1_000);
  return { text, seconds: String(seconds).length === 10 && seconds > 0 ? seconds : null };
}

type Timestamps = Readonly<Record<SchemeName, ReadTimestamp | null>>;

function ageFindings(seconds: number | null, receivedAt: Date, tolerance: number): Finding[] {
  if (seconds === null) return [];
  const age = Math.floor(receivedAt.getTime() / 1_000) - seconds;
  if (age > tolerance) return [detailed.timestampTooOld(age, tolerance)];
  return -age > tolerance ? [detailed.timestampTooNew(-age, tolerance)] : [];
}

function searchedScheme(
  name: SchemeName,
  service: ServiceHeaderNames | null,
  values: ReadonlyMap<string, readonly string[]>,
  timestamps: Timestamps,
  findings: Finding[],
): SearchedScheme {
  const reads =
    name === 'standard' || service === null
      ? [readStandardSignatures(values.get('webhook-signature') ?? [])]
      : [service.signature, service.nextSignature].map((each) => readServiceSignatures(each, values.get(each) ?? []));
  for (const read of reads) findings.push(...read.findings);
  const own = textsOf(timestamps[name]);
  const others = textsOf(name === 'service' ? timestamps.standard : timestamps.service);
  const [id = null] = values.get('webhook-id') ?? [];
  if (name === 'standard' && id !== null && /\s/.test(id)) findings.push(detailed.headerWhitespace('webhook-id'));
  return {
    name,
    signatures: reads.flatMap(({ signatures }) => signatures),
    id: id?.replaceAll(/\s/g, '') ?? null,
    timestamps: [
      ...own.map((text) => ({ text, isOfOtherScheme: false })),
      ...others.filter((text) => !own.includes(text)).map((text) => ({ text, isOfOtherScheme: own.length > 0 })),
    ],
  };
}

/** The timestamp as it is, and in seconds. */
function textsOf(timestamp: ReadTimestamp | null): string[] {
  if (timestamp === null) return [];
  return timestamp.seconds === null ? [timestamp.text] : [...new Set([timestamp.text, String(timestamp.seconds)])];
}

function bodiesToSearch(body: Bytes, sentBody: Bytes | null, order: ContractOrder): SearchedBody[] {
  const derived = bodyVariants(body, order).map((variant) => ({ ...variant, isKnown: false }));
  if (sentBody === null || derived.some(({ value }) => isEqual(value, sentBody))) return derived;
  return [...derived, { value: sentBody, codes: [], isKnown: true }];
}

function matchFindings(
  { request, secrets, sentBody = null, prefix }: DiagnosisInput,
  matches: ReadonlyMap<SchemeName, Match | null>,
  values: ReadonlyMap<string, readonly string[]>,
): Finding[] {
  const found = [...matches.values()].filter((match) => match !== null);
  const ofBody = [...request.findings, ...lengthFindings(request)];
  const [first] = found;
  if (first === undefined) {
    const ofSecrets = secretFindings(secrets);
    if (matches.size === 0) return [...ofSecrets, ...ofBody];
    const wrong = mismatchDetails(request.body, sentBody);
    const mismatch = detailed.signatureMismatch(wrong, prefix);
    const doubts = [...ofBody, ...suspicions(request.body)];
    return [...ofSecrets, ...(wrong === 'secret' ? [mismatch, ...doubts] : [...doubts, mismatch])];
  }
  const findings = found.flatMap(({ codes }) => codes.map((code) => finding(code, true, prefix)));
  if (found.some(({ usesKnownBody }) => usesKnownBody)) findings.push(differenceOf(request.body, sentBody));
  if (prefix !== undefined && found.some(({ usesOtherTimestamp }) => usesOtherTimestamp))
    findings.push(detailed.timestampChanged(prefix));
  if (secrets.length > 1) findings.push(detailed.otherSecret(first.secretIndex + 1, secrets.length));
  // With two schemes there is a prefix.
  if (prefix !== undefined) {
    const unmatched = [...matches].find(([, match]) => match === null)?.[0];
    if (unmatched === 'standard' && values.has('webhook-id')) findings.push(detailed.idChanged(prefix));
    if (unmatched === 'service') findings.push(detailed.serviceSignatureChanged(serviceHeaderNames(prefix).signature));
  }
  return [...findings, ...ofBody];
}

function lengthFindings({ headers, body }: CapturedRequest): Finding[] {
  const [, announced = ''] = headers.find(([name]) => name.toLowerCase() === 'content-length') ?? [];
  if (!/^\d{1,9}$/.test(announced.trim()) || Number(announced) === body.length) return [];
  return [detailed.bodyLength(body.length, Number(announced))];
}

/** What is probably wrong with a body of which no signature matches. */
function suspicions(body: Bytes): Finding[] {
  if (body.length === 0) return [finding('BODY_EMPTY', false)];
  if (startsWith(body, [0x1f, 0x8b]) || startsWith(body, [0x28, 0xb5, 0x2f, 0xfd]))
    return [finding('BODY_COMPRESSED', false)];
  return utf8Text(body)?.includes('\uFFFD') === true ? [finding('BODY_LOST_CHARACTERS', false)] : [];
}

function mismatchDetails(body: Bytes, sentBody: Bytes | null): 'both' | 'secret' | 'unknown' {
  if (sentBody === null) return 'unknown';
  return isEqual(body, sentBody) ? 'secret' : 'both';
}

function differenceOf(body: Bytes, sentBody: Bytes | null): Finding {
  const sent = sentBody ?? body;
  const captured = canonicalJson(body);
  if (captured !== null && captured === canonicalJson(sent)) return finding('BODY_KEYS_REORDERED', true);
  const offset = sent.findIndex((byte, index) => byte !== body[index]);
  return detailed.bodyDifferent(offset === -1 ? sent.length : offset, body.length, sent.length);
}

/** The same text for bodies with the same JSON value. Null if the body is not JSON. */
function canonicalJson(body: Bytes): string | null {
  try {
    return JSON.stringify(JSON.parse(utf8Text(body) ?? ''), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return null;
  }
}
