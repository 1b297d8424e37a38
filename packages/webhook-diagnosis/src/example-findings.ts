import { webhookSecretProblem } from '@deedwire/webhook-signing';
import { detailed, finding, type Finding, type FindingCode, type PlainCode, plainCodes } from './findings.ts';

/** Each finding as `diagnoseWebhook` returns it, several times if its text depends on the request. For the reference. */
export function exampleFindings(prefix: string): Finding[] {
  const [service, standard] = [`${prefix.toLowerCase()}-webhook-signature`, 'webhook-signature'];
  const detailedOnes: Record<Exclude<FindingCode, PlainCode>, readonly Finding[]> = {
    BODY_DIFFERENT: [detailed.bodyDifferent(207, 413, 412)],
    BODY_LENGTH: [detailed.bodyLength(400, 412), detailed.bodyLength(413, 412)],
    HEADER_JOINED: [detailed.headerJoined(standard)],
    HEADER_MALFORMED: [detailed.headerMalformed(`\`${standard}\` has an entry that is not the base64 of 32 bytes.`)],
    HEADER_MISSING: [detailed.headerMissing('webhook-id')],
    HEADER_QUOTED: [detailed.headerQuoted('webhook-timestamp')],
    HEADER_RENAMED: [detailed.headerRenamed('webhook-id', 'webhook_id')],
    HEADER_REPEATED: [detailed.headerRepeated(standard, 2)],
    HEADER_WHITESPACE: [detailed.headerWhitespace('webhook-id')],
    ID_CHANGED: [detailed.idChanged(prefix)],
    OTHER_SECRET: [detailed.otherSecret(2, 2)],
    SECRET_INVALID: [detailed.secretInvalid(webhookSecretProblem('whsec_c2hvcnQ=') ?? '')],
    SIGNATURE_BASE64: [detailed.signatureEncoding('SIGNATURE_BASE64', service)],
    SIGNATURE_BASE64URL: [detailed.signatureEncoding('SIGNATURE_BASE64URL', standard)],
    SIGNATURE_HEX: [detailed.signatureEncoding('SIGNATURE_HEX', standard)],
    SIGNATURE_MISMATCH: [
      detailed.signatureMismatch('unknown', prefix),
      detailed.signatureMismatch('secret', prefix),
      detailed.signatureMismatch('both', prefix),
      detailed.serviceSignatureChanged(service),
    ],
    SIGNATURE_OTHER_VERSION: [detailed.signatureOtherVersion(['v2'])],
    SIGNATURE_PREFIX: [detailed.signaturePrefix(service, '64 lowercase hexadecimal digits')],
    SIGNATURE_UPPER_CASE: [detailed.signatureEncoding('SIGNATURE_UPPER_CASE', service)],
    TIMESTAMP_CHANGED: [detailed.timestampChanged(prefix)],
    TIMESTAMP_CONFLICT: [detailed.timestampConflict(prefix, 1_800_000_060, 1_800_000_000)],
    TIMESTAMP_IN_MILLISECONDS: [detailed.timestampInMilliseconds('webhook-timestamp', 1_800_000_000)],
    TIMESTAMP_MALFORMED: [detailed.timestampMalformed('webhook-timestamp')],
    TIMESTAMP_TOO_NEW: [detailed.timestampTooNew(420, 300)],
    TIMESTAMP_TOO_OLD: [detailed.timestampTooOld(3_600, 300)],
  };
  return [...plainCodes.map((code) => finding(code, true, prefix)), ...Object.values(detailedOnes).flat()];
}
