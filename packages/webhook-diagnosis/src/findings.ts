/**
 * What can be wrong with a request, with the headers that a receiver reads, with the secret and with the body.
 *
 * A code names one rule. Later releases only add codes.
 */
export type FindingCode =
  | 'BODY_BASE64'
  | 'BODY_BOM'
  | 'BODY_CHUNKED'
  | 'BODY_COMPRESSED'
  | 'BODY_CRLF'
  | 'BODY_DIFFERENT'
  | 'BODY_EMPTY'
  | 'BODY_ENCODED_TWICE'
  | 'BODY_ESCAPES_CHANGED'
  | 'BODY_JSON_STRING'
  | 'BODY_KEYS_REORDERED'
  | 'BODY_LATIN1'
  | 'BODY_LENGTH'
  | 'BODY_LF'
  | 'BODY_LOST_CHARACTERS'
  | 'BODY_NUMBERS_CHANGED'
  | 'BODY_PARSED'
  | 'BODY_TRAILING_NEWLINE'
  | 'BODY_TRIMMED'
  | 'BODY_UTF16'
  | 'BODY_WHITESPACE_CHANGED'
  | 'CAPTURE_UTF16'
  | 'CONTENT_ONLY_BODY'
  | 'CONTENT_WITHOUT_ID'
  | 'CONTENT_WITH_ID'
  | 'HEADER_JOINED'
  | 'HEADER_MALFORMED'
  | 'HEADER_MISSING'
  | 'HEADER_QUOTED'
  | 'HEADER_RENAMED'
  | 'HEADER_REPEATED'
  | 'HEADER_WHITESPACE'
  | 'ID_CHANGED'
  | 'ID_ENCODED'
  | 'KEY_DECODED'
  | 'KEY_DECODED_WITH_PREFIX'
  | 'KEY_TEXT'
  | 'KEY_TEXT_WITHOUT_PREFIX'
  | 'OTHER_SECRET'
  | 'SECRET_BASE64URL'
  | 'SECRET_EMPTY'
  | 'SECRET_ENCODED_TWICE'
  | 'SECRET_HEX'
  | 'SECRET_INVALID'
  | 'SECRET_NAME_INCLUDED'
  | 'SECRET_PREFIX_DOUBLED'
  | 'SECRET_PREFIX_MISSING'
  | 'SECRET_QUOTED'
  | 'SECRET_URL_DECODED'
  | 'SECRET_URL_ENCODED'
  | 'SECRET_WHITESPACE'
  | 'SECRET_WITH_SCHEME'
  | 'SECRET_WITH_VERSION'
  | 'SECRETS_JOINED'
  | 'SIGNATURE_BASE64'
  | 'SIGNATURE_BASE64URL'
  | 'SIGNATURE_HEX'
  | 'SIGNATURE_MISMATCH'
  | 'SIGNATURE_MISSING'
  | 'SIGNATURE_OTHER_VERSION'
  | 'SIGNATURE_PREFIX'
  | 'SIGNATURE_UPPER_CASE'
  | 'TIMESTAMP_CHANGED'
  | 'TIMESTAMP_CONFLICT'
  | 'TIMESTAMP_IN_MILLISECONDS'
  | 'TIMESTAMP_MALFORMED'
  | 'TIMESTAMP_TOO_NEW'
  | 'TIMESTAMP_TOO_OLD';

/** One thing that is wrong. No text contains a secret, a signature or a part of the body. */
export interface Finding {
  code: FindingCode;
  /** Whether it is shown: the rule can be checked without the signature, or the signature matches once this is undone. */
  isProven: boolean;
  /** What is wrong. */
  problem: string;
  /** What to do. */
  remedy: string;
}

type Texts = readonly [problem: string, remedy: string];

const rawBytes =
  'Verify the bytes as they arrive, before anything parses, decodes or formats them, and capture these bytes.';
const wholeSecret = 'Configure the whole secret, as Deedwire shows it: "whsec_" and the base64 after it.';
const standardKey = 'For `webhook-signature`, the key is the decoded bytes of the base64 after "whsec_".';
const serviceKey = 'For `{prefix}-Webhook-Signature`, the key is the UTF-8 bytes of the whole secret, with "whsec_".';
const forwardHeaders = 'Pass the headers as received, and let no proxy change them.';

/** Texts of the findings that need no details but the prefix of the headers. */
const texts = {
  BODY_BASE64: [
    'The body is still in base64.',
    'Decode it first. With `isBase64Encoded` of API Gateway, the bytes are those of the decoded body.',
  ],
  BODY_BOM: [
    'The body begins with a byte order mark, which was not signed.',
    `A tool that reads or writes text has added it. ${rawBytes}`,
  ],
  BODY_CHUNKED: [
    'The body still has the frames of a chunked transfer: lengths in hexadecimal between its parts.',
    'Let an HTTP server read the body, or remove the frames from the capture.',
  ],
  BODY_COMPRESSED: [
    'The body is compressed, and Deedwire signs and sends it uncompressed.',
    'A proxy compresses it. Turn that off for the callback URL, or decompress the body before you verify it.',
  ],
  BODY_CRLF: [
    'Line feeds of the body have become CR LF.',
    `An editor, a mail or git on Windows does that. ${rawBytes}`,
  ],
  BODY_EMPTY: [
    'The body is empty.',
    'Something read it before, for example a body parser. Read the raw body first, or give the capture its body.',
  ],
  BODY_ENCODED_TWICE: [
    'The body was encoded as UTF-8 twice: each character beyond ASCII has become two or more.',
    `Something read the UTF-8 bytes as Latin-1. ${rawBytes}`,
  ],
  BODY_ESCAPES_CHANGED: [
    'The body was serialized again: its escapes differ from those that were signed, for example \\u00e9 for é or \\/ for /.',
    rawBytes,
  ],
  BODY_JSON_STRING: [
    'The body is a JSON string that contains the body.',
    'It was serialized once more. Pass the text in the string, or better the bytes as received.',
  ],
  BODY_KEYS_REORDERED: [
    'The body was serialized again: its keys are in another order than those that were signed.',
    `Many libraries sort the keys. ${rawBytes}`,
  ],
  BODY_LATIN1: [
    'The body is in Latin-1 (or Windows-1252), and it was signed in UTF-8.',
    `Something has converted it. ${rawBytes}`,
  ],
  BODY_LF: ['CR LF in the body have become line feeds.', `A tool for text does that. ${rawBytes}`],
  BODY_LOST_CHARACTERS: [
    'The body contains U+FFFD, the sign for characters that could not be decoded, so bytes were replaced.',
    `Something decoded the body in the wrong encoding, or in pieces. ${rawBytes}`,
  ],
  BODY_NUMBERS_CHANGED: [
    'The body was serialized again: its numbers are written differently, for example 1.0 for 1.',
    rawBytes,
  ],
  BODY_PARSED: ['The capture contains the parsed body, not its bytes.', rawBytes],
  BODY_TRAILING_NEWLINE: [
    'The body has an additional line break at its end.',
    `An editor or a shell (\`echo\`, \`<<<\`) adds one. ${rawBytes}`,
  ],
  BODY_TRIMMED: ['The line break at the end of the body is missing.', `Something has trimmed the body. ${rawBytes}`],
  BODY_UTF16: ['The body is in UTF-16, and it was signed in UTF-8.', `Something has converted it. ${rawBytes}`],
  BODY_WHITESPACE_CHANGED: [
    'The body was serialized again or formatted: it has white space that was not signed.',
    rawBytes,
  ],
  CAPTURE_UTF16: [
    'The capture is in UTF-16, so the bytes of its body are not those that arrived.',
    'It was read as UTF-8 here. PowerShell writes UTF-16 for `>`: use `Set-Content -AsByteStream`, or another shell.',
  ],
  CONTENT_ONLY_BODY: [
    'Only the body was signed.',
    'Sign `<webhook-id>.<timestamp>.<body>` for `webhook-signature`, and `<timestamp>.<body>` for `{prefix}-Webhook-Signature`.',
  ],
  CONTENT_WITHOUT_ID: [
    '`<timestamp>.<body>` was signed for `webhook-signature`.',
    'For `webhook-signature`, the signed content is `<webhook-id>.<timestamp>.<body>`.',
  ],
  CONTENT_WITH_ID: [
    '`<webhook-id>.<timestamp>.<body>` was signed for `{prefix}-Webhook-Signature`.',
    'For `{prefix}-Webhook-Signature`, the signed content is `<timestamp>.<body>`, without the id.',
  ],
  ID_ENCODED: [
    '`webhook-id` is percent-encoded.',
    'Pass it as received, for example `gid://service/WebhookDelivery/1`.',
  ],
  KEY_DECODED: [
    '`{prefix}-Webhook-Signature` was made with the decoded bytes of the base64 in the secret as the key.',
    serviceKey,
  ],
  KEY_DECODED_WITH_PREFIX: [
    '`webhook-signature` was made with a key from decoding the whole secret, with "whsec_", as base64.',
    `Remove "whsec_" before decoding. ${standardKey}`,
  ],
  KEY_TEXT: ['`webhook-signature` was made with the text of the whole secret as the key.', standardKey],
  KEY_TEXT_WITHOUT_PREFIX: [
    'The signature was made with the text after "whsec_" as the key.',
    `${standardKey} ${serviceKey}`,
  ],
  SECRET_BASE64URL: [
    'The secret is in base64url, or lacks its padding.',
    `Use + and / instead of - and _, and keep the = at the end. ${wholeSecret}`,
  ],
  SECRET_EMPTY: ['The secret is empty.', 'Check that it is configured, and where the program reads it.'],
  SECRET_ENCODED_TWICE: [
    'The secret is encoded in base64 once more.',
    'Decode it once, for example where it comes from a Kubernetes secret: the result begins with "whsec_".',
  ],
  SECRET_HEX: ['The secret is in hexadecimal.', wholeSecret],
  SECRET_NAME_INCLUDED: ['The secret contains the name of its variable and "=".', wholeSecret],
  SECRET_PREFIX_DOUBLED: ['The secret begins with "whsec_" twice.', 'Remove one "whsec_".'],
  SECRET_PREFIX_MISSING: ['The secret lacks "whsec_" at its start.', wholeSecret],
  SECRET_QUOTED: ['The secret is in quotation marks.', 'Remove them: some tools keep those of an .env file.'],
  SECRET_URL_DECODED: [
    'The secret contains spaces instead of +.',
    'Something has decoded it like a URL. Configure it as Deedwire shows it.',
  ],
  SECRET_URL_ENCODED: ['The secret is percent-encoded.', 'Decode it, or configure it as Deedwire shows it.'],
  SECRET_WHITESPACE: [
    'The secret contains white space, for example a line break from a file.',
    'Remove it, or trim the secret where the program reads it.',
  ],
  SECRET_WITH_SCHEME: ['The secret begins with "Bearer", which belongs to API keys.', 'Remove what precedes "whsec_".'],
  SECRET_WITH_VERSION: ['The secret begins with "v1", which belongs to signatures.', 'Remove what precedes "whsec_".'],
  SECRETS_JOINED: [
    'The text contains several secrets.',
    'Pass each as a separate string, in an array. `WEBHOOK_SECRET` and `--secret-file` of the commands have one on each line.',
  ],
  SIGNATURE_MISSING: [
    'The request has neither `webhook-signature` nor `{prefix}-Webhook-Signature`.',
    'Let proxies and gateways forward `webhook-*` and `{prefix}-Webhook-*`. A request without them is not from Deedwire.',
  ],
} satisfies Partial<Record<FindingCode, Texts>>;

export type PlainCode = keyof typeof texts;

export const plainCodes = Object.keys(texts).filter((code): code is PlainCode => code in texts);

/** Texts for a receiver that reads the headers of Standard Webhooks only. */
const textsWithoutPrefix: Partial<Record<PlainCode, Texts>> = {
  CONTENT_ONLY_BODY: ['Only the body was signed.', 'Sign `<webhook-id>.<timestamp>.<body>` for `webhook-signature`.'],
  KEY_TEXT_WITHOUT_PREFIX: [texts.KEY_TEXT_WITHOUT_PREFIX[0], standardKey],
  SIGNATURE_MISSING: [
    'The request has no `webhook-signature`.',
    'Let proxies and gateways forward `webhook-*`. A request without them is not from Deedwire.',
  ],
};

/** @param prefix of the service's own headers, for a text that names one. Undefined if the receiver does not read them */
export function finding(code: PlainCode, isProven: boolean, prefix?: string): Finding {
  const [problem, remedy]: Texts = (prefix === undefined && textsWithoutPrefix[code]) || texts[code];
  const filled = (text: string): string => text.replaceAll('{prefix}', prefix ?? '');
  return { code, isProven, problem: filled(problem), remedy: filled(remedy) };
}

const proven = (code: FindingCode, problem: string, remedy: string): Finding => ({
  code,
  isProven: true,
  problem,
  remedy,
});

/** Findings whose text contains details. */
export const detailed = {
  bodyDifferent: (offset: number, captured: number, sent: number) =>
    proven(
      'BODY_DIFFERENT',
      `The body is not the one that Deedwire sends for this delivery: it has ${captured} bytes instead of ${sent}, and the first difference is at byte ${offset}.`,
      `Compare both bodies from byte ${offset} on. If another part of the system changes bodies, verify before it does.`,
    ),
  bodyLength: (captured: number, announced: number) =>
    proven(
      'BODY_LENGTH',
      `The body has ${captured} bytes, but \`content-length\` says ${announced}.`,
      captured < announced
        ? 'The capture or the reader stops early. Read the whole body.'
        : 'Something has changed the body after it arrived. Capture the bytes as received.',
    ),
  headerJoined: (name: string) =>
    proven(
      'HEADER_JOINED',
      `\`${name}\` contains several values, joined by commas.`,
      `Entries are separated by a single space. ${forwardHeaders}`,
    ),
  headerMalformed: (message: string) => proven('HEADER_MALFORMED', message, forwardHeaders),
  headerMissing: (name: string) =>
    proven(
      'HEADER_MISSING',
      `\`${name}\` is missing, but other headers of the same scheme are present.`,
      'Check that no proxy removes it, and that the program passes all headers.',
    ),
  headerQuoted: (name: string) =>
    proven('HEADER_QUOTED', `The value of \`${name}\` is in quotation marks.`, `Remove them. ${forwardHeaders}`),
  headerRenamed: (name: string, captured: string) =>
    proven(
      'HEADER_RENAMED',
      `\`${name}\` is called ${quoted(captured)}.`,
      `Some servers rename headers: read the value, and pass it to the verifier as \`${name}\`.`,
    ),
  headerRepeated: (name: string, count: number) =>
    proven(
      'HEADER_REPEATED',
      `\`${name}\` occurs ${count} times.`,
      'A proxy adds it once more, or the program merges the headers of two requests. Deedwire sends it once.',
    ),
  headerWhitespace: (name: string) =>
    proven(
      'HEADER_WHITESPACE',
      `The value of \`${name}\` contains white space that Deedwire does not send.`,
      `Trim it, and look where it is added. ${forwardHeaders}`,
    ),
  idChanged: (prefix: string) =>
    proven(
      'ID_CHANGED',
      `\`webhook-id\` is not the one that was signed: the ${prefix} signature matches this secret and this body, and that of Standard Webhooks does not.`,
      'Pass the header `webhook-id` as received, not an id from the body or of your own.',
    ),
  otherSecret: (matching: number, count: number) =>
    proven(
      'OTHER_SECRET',
      `Only secret ${matching} of ${count} matches.`,
      'A receiver that knows only another one rejects this request. After a rotation, configure the new secret; during one, both.',
    ),
  secretInvalid: (problem: string) => proven('SECRET_INVALID', problem, wholeSecret),
  signatureEncoding: (
    code: 'SIGNATURE_BASE64' | 'SIGNATURE_BASE64URL' | 'SIGNATURE_HEX' | 'SIGNATURE_UPPER_CASE',
    name: string,
  ) => {
    const [found, expected] = {
      SIGNATURE_BASE64: ['in base64', 'lowercase hexadecimal'],
      SIGNATURE_BASE64URL: ['in base64url, or lacks its padding', 'base64 with + and /, and = at its end'],
      SIGNATURE_HEX: ['in hexadecimal', 'base64'],
      SIGNATURE_UPPER_CASE: ['in uppercase hexadecimal', 'lowercase hexadecimal'],
    }[code];
    return proven(code, `The signature in \`${name}\` is ${found}.`, `It must be ${expected}.`);
  },
  serviceSignatureChanged: (name: string) =>
    proven(
      'SIGNATURE_MISMATCH',
      `The signature in \`${name}\` is not the one that Deedwire sent: that of Standard Webhooks matches this secret and this body.`,
      forwardHeaders,
    ),
  signatureMismatch: (wrong: 'both' | 'secret' | 'unknown', prefix: string | undefined) =>
    proven(
      'SIGNATURE_MISMATCH',
      wrong === 'secret'
        ? 'The signature was made with another secret: the body is the one that Deedwire sends for this delivery.'
        : wrong === 'both'
          ? 'The signature was made with another secret, and the body is not the one that Deedwire sends for this delivery.'
          : 'The signature was made with another secret, or for another body.',
      `Compare the secret with that of the subscription${prefix === undefined ? '' : ` in \`${prefix}-Webhook-Subscription-Id\``}${
        wrong === 'secret' ? '' : ', and the body with the payload of the delivery in `webhook-id`'
      }. Each subscription has its own secret, including in another environment.`,
    ),
  signatureOtherVersion: (versions: readonly string[]) =>
    proven(
      'SIGNATURE_OTHER_VERSION',
      `\`webhook-signature\` has no entry of version v1, only of ${versions.map(quoted).join(', ')}.`,
      'Deedwire signs with v1. Check where the request comes from, and that no proxy removes the entry.',
    ),
  signaturePrefix: (name: string, expected: string) =>
    proven(
      'SIGNATURE_PREFIX',
      `The signature in \`${name}\` has the wrong prefix, or none.`,
      `Write it as ${expected}.`,
    ),
  timestampChanged: (prefix: string) =>
    proven(
      'TIMESTAMP_CHANGED',
      'The timestamp in the header is not the one that was signed: the other header has that.',
      `Pass \`webhook-timestamp\` and \`${prefix}-Webhook-Timestamp\` as received.`,
    ),
  timestampConflict: (prefix: string, service: number, standard: number) =>
    proven(
      'TIMESTAMP_CONFLICT',
      `\`${prefix}-Webhook-Timestamp\` is ${service}, but \`webhook-timestamp\` is ${standard}.`,
      'The headers come from two requests, or one was changed. Pass all headers of one request.',
    ),
  timestampInMilliseconds: (name: string, seconds: number) =>
    proven(
      'TIMESTAMP_IN_MILLISECONDS',
      `\`${name}\` is in milliseconds.`,
      `It must be in seconds: ${seconds}. In JavaScript, that is Math.floor(Date.now() / 1000).`,
    ),
  timestampMalformed: (name: string) =>
    proven(
      'TIMESTAMP_MALFORMED',
      `\`${name}\` is not a time in Unix seconds, with ten digits.`,
      'Pass it as received: not as a date, with a fraction, or with a sign.',
    ),
  timestampTooNew: (seconds: number, tolerance: number) =>
    proven(
      'TIMESTAMP_TOO_NEW',
      `The request was signed ${count(seconds)} seconds in the future. The tolerance is ${tolerance}.`,
      'The clock that it was compared with is slow. Synchronize it with NTP.',
    ),
  timestampTooOld: (seconds: number, tolerance: number) =>
    proven(
      'TIMESTAMP_TOO_OLD',
      `The request was signed ${count(seconds)} seconds ago. The tolerance is ${tolerance}.`,
      'If it was captured earlier, compare it with the time at which it arrived. Otherwise the clock is fast, or a queue holds requests before they are verified.',
    ),
};

const count = (value: number): string => value.toLocaleString('en');

/** Foreign text, in one line. It can contain characters that could rewrite a terminal. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
