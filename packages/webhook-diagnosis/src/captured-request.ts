import { type Bytes, latin1Bytes, latin1Text, looseBase64, startsWith, utf16Text, utf8, utf8Text } from './bytes.ts';
import { type Finding, finding } from './findings.ts';

/** A request as a receiver, a proxy or a tool has seen it. */
export interface CapturedRequest {
  /** In their order, with the names as captured. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Bytes;
  /** What the capture itself shows. */
  findings: readonly Finding[];
}

/** Either a request, or what is wrong with the capture. */
export type CaptureResult = { request: CapturedRequest; problem: null } | { request: null; problem: string };

/**
 * Reads a captured request in one of these forms:
 *
 * - HTTP text: the request line (optional), the headers, an empty line, and the bytes of the body;
 * - the same as `curl -v` prints it, with `> ` before each header; lines with `< ` and `* ` do not count;
 * - JSON with `headers` (an object, or a list of names and values), and `body` or `bodyBase64`, as a program may log it. Events of
 *   AWS Lambda have this form.
 *
 * Never throws, whatever the bytes are.
 *
 * @param body the body, if it was captured apart from the headers. Null if it is in the capture.
 */
export function readCapturedRequest(capture: Uint8Array, body: Uint8Array | null): CaptureResult {
  const findings: Finding[] = [];
  const text16 = utf16Text(capture);
  if (text16 !== null) findings.push(finding('CAPTURE_UTF16', true));
  const bytes = text16 === null ? withoutBom(capture) : utf8(text16);
  const read = /^\s*\{/.test(latin1Text(bytes.subarray(0, 64))) ? readJson(bytes) : readText(bytes);
  if (typeof read === 'string') return { request: null, problem: read };
  const request = { headers: read.headers, body: body === null ? read.body : Uint8Array.from(body) };
  return { request: { ...request, findings: [...findings, ...(body === null ? read.findings : [])] }, problem: null };
}

type Read = CapturedRequest | string;

const withoutBom = (bytes: Uint8Array): Bytes =>
  Uint8Array.from(startsWith(bytes, [0xef, 0xbb, 0xbf]) ? bytes.subarray(3) : bytes);

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const requestLine = /^[A-Z]{3,10} \S+(?: HTTP\/\d(?:\.\d)?)?$/;

function readText(bytes: Bytes): Read {
  // Each byte is a character, so that a position in the text is one in the bytes.
  const text = latin1Text(bytes);
  return /^> ?[A-Z]{3,10} \S+/m.test(text) ? readVerbose(text) : readHttp(text);
}

function readHttp(text: string): Read {
  const start = /^(?:[ \t]*\r?\n)+/.exec(text)?.[0].length ?? 0;
  const end = /\r?\n[ \t]*\r?\n/.exec(text.slice(start));
  const head = text.slice(start, end === null ? undefined : start + end.index);
  const body = end === null ? '' : text.slice(start + end.index + end[0].length);
  return withHeaders(head.split(/\r?\n/), body);
}

/** The body is what follows the headers, without the lines of curl. */
function readVerbose(text: string): Read {
  const lines = text.split(/(?<=\n)/);
  const sent = lines
    .filter((line) => line.startsWith('>'))
    .map((line) => line.replace(/^> ?/, '').replace(/\r?\n$/, ''));
  const last = lines.findLastIndex((line) => line.startsWith('>'));
  const rest = lines.slice(last + 1).filter((line) => !/^(?:[*<] ?|[{}] \[)/.test(line));
  return withHeaders(sent.slice(0, sent.includes('') ? sent.indexOf('') : undefined), rest.join(''));
}

function withHeaders(lines: readonly string[], body: string): Read {
  const headers: [string, string][] = [];
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trimEnd();
    if (index === 0 && /^HTTP\/\d/.test(trimmed)) return 'This is a response. Capture the request.';
    if ((index === 0 && requestLine.test(trimmed)) || /^:[a-z]+: /.test(trimmed) || trimmed === '') continue;
    const last = headers.at(-1);
    // A folded header continues in the next line.
    if (/^[ \t]/.test(line) && last !== undefined) {
      last[1] = `${last[1]} ${line.trim()}`.trim();
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!namePattern.test(name))
      return `Line ${index + 1} is not a header: "<name>: <value>". An empty line separates the headers from the body.`;
    headers.push([name, line.slice(colon + 1).trim()]);
  }
  if (headers.length === 0)
    return 'The capture is empty. It needs the headers of the request, an empty line and the body.';
  return { headers, body: latin1Bytes(body) ?? new Uint8Array(), findings: [] };
}

const jsonForm =
  'Write it as {"headers": {"webhook-id": "…"}, "body": "…"}, or with "bodyBase64", the base64 of the bytes.';

function readJson(bytes: Bytes): Read {
  let value: unknown;
  try {
    value = JSON.parse(utf8Text(bytes) ?? latin1Text(bytes));
  } catch {
    return `The capture begins with { but is not valid JSON. ${jsonForm}`;
  }
  if (!isRecord(value)) return `The JSON is not an object. ${jsonForm}`;
  const headers = headersOf(value['headers'] ?? value['multiValueHeaders']);
  if (headers === null) return `The JSON has no headers that can be read. ${jsonForm}`;
  const body = bodyOf(value);
  return typeof body === 'string' ? body : { headers, ...body };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Header = [name: string, value: string];

function headersOf(value: unknown): Header[] | null {
  const pairs = Array.isArray(value) ? pairsOfList(value) : isRecord(value) ? Object.entries(value) : null;
  if (pairs === null) return null;
  const headers: Header[] = [];
  for (const [name, given] of pairs) {
    for (const one of Array.isArray(given) ? given : [given]) {
      if (typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
        headers.push([name, String(one)]);
    }
  }
  return headers.length === 0 ? null : headers;
}

/** Lists of `[name, value]`, of `{ name, value }`, or of names and values in turn. */
function pairsOfList(list: readonly unknown[]): [string, unknown][] | null {
  if (list.every((one) => typeof one === 'string'))
    return list.flatMap((name, index) =>
      index % 2 === 0 ? [[name, list[index + 1]] satisfies [string, unknown]] : [],
    );
  const pairs = list.map((one): [string, unknown] | null => {
    if (Array.isArray(one)) return typeof one[0] === 'string' ? [one[0], one[1]] : null;
    if (!isRecord(one)) return null;
    const name = one['name'] ?? one['key'];
    return typeof name === 'string' ? [name, one['value']] : null;
  });
  return pairs.includes(null) ? null : pairs.filter((pair) => pair !== null);
}

function bodyOf(value: Record<string, unknown>): Omit<CapturedRequest, 'headers'> | string {
  const base64 = value['bodyBase64'] ?? (value['isBase64Encoded'] === true ? value['body'] : undefined);
  if (base64 !== undefined && base64 !== null && base64 !== '') {
    const bytes = typeof base64 === 'string' ? looseBase64(base64) : null;
    return bytes === null ? 'The body is not valid base64.' : { body: bytes, findings: [] };
  }
  const body = value['body'];
  if (typeof body === 'string') return { body: utf8(body), findings: [] };
  if (body === undefined || body === null) return { body: new Uint8Array(), findings: [] };
  const bytes = bufferOf(body);
  if (bytes !== null) return { body: bytes, findings: [] };
  try {
    return { body: utf8(JSON.stringify(body)), findings: [finding('BODY_PARSED', true)] };
  } catch {
    return 'The body is nested too deep.';
  }
}

/** What `JSON.stringify` makes of a `Buffer` of Node. */
function bufferOf(body: unknown): Bytes | null {
  if (!isRecord(body) || body['type'] !== 'Buffer' || !Array.isArray(body['data'])) return null;
  const bytes = body['data'].filter((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256);
  return bytes.length === body['data'].length ? Uint8Array.from(bytes) : null;
}
