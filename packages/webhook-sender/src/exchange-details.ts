import type { Call } from './call.ts';
import { keptBodyBytes } from './details-policy.ts';
import type { HeaderMask } from './header-mask.ts';
import type { Attempt } from './start-attempt.ts';

/** More headers of a response are not kept. */
const keptHeaders = 40;
/** Longer names and values are cut. */
const keptNameCharacters = 100;
const keptValueCharacters = 300;

/**
 * What an attempt sent and received, for the owner of the receiver. The value of a secret header is masked, even in its usual encodings
 * and shortenings where the receiver echoes it. Of a host name that cannot be called, it contains nothing that the error does not tell.
 */
export interface ExchangeDetails {
  /** Names and values in turn, as sent. Values are cut as below. Empty if no request could be built. */
  readonly requestHeaders: readonly string[];
  /** The address that was called, or the last one that was tried. Null if none was. */
  readonly remoteAddress: string | null;
  /** Milliseconds to resolve the host name. Null on a connection that was open, for an address, and if that failed. */
  readonly dnsMs: number | null;
  /** Milliseconds to open the TCP connection. Null on a connection that was open, and if that failed. */
  readonly connectMs: number | null;
  /** Milliseconds of the TLS handshake. Null on a connection that was open, without TLS, and if that failed. */
  readonly tlsMs: number | null;
  /** Milliseconds from the request to the headers of the response. Null without them. */
  readonly firstByteMs: number | null;
  /**
   * Names and values in turn: the first 40 headers. Names are cut after 100 characters and values after 300, with an ellipsis.
   * Empty if no response was received.
   */
  readonly responseHeaders: readonly string[];
  /** The first 16 kB. Null if no response was received or its body was not kept. */
  readonly responseBody: Buffer | null;
  /** How many bytes of the response body were read, up to about 64 kB. */
  readonly responseBytes: number;
}

/** @param attempt null if no request could be built */
export function detailsOf(attempt: Attempt | null): ExchangeDetails {
  const { exchange = null, steps = null, request = null } = attempt ?? {};
  const response = exchange !== null && exchange.status !== null ? exchange : null;
  const requestHeaders = request === null ? [] : sentHeaders(request);
  return {
    requestHeaders,
    remoteAddress: exchange?.connection.remoteAddress ?? steps?.address ?? null,
    dnsMs: steps?.dnsMs ?? null,
    connectMs: steps?.connectMs ?? null,
    tlsMs: steps?.tlsMs ?? null,
    firstByteMs: response?.firstByteMs ?? null,
    responseHeaders: response === null ? [] : keptHeadersOf(response.headerValues(), request?.mask ?? null),
    responseBody: response === null ? null : keptBodyOf(response, request?.mask ?? null),
    responseBytes: exchange?.bodyBytes ?? 0,
  };
}

function keptBodyOf(response: Call, mask: HeaderMask | null): Buffer | null {
  const body = response.keptBody();
  if (body === null || mask === null) return body;
  const isCut = response.error !== null || response.bodyBytes > body.length;
  // What replaces the value can be longer.
  const encoding = response.header('content-encoding');
  return mask.body(body, { isCut, encoding }).subarray(0, keptBodyBytes);
}

/** As undici writes them: it adds the first two and the last one. */
function sentHeaders({ url, headers, body, mask }: Attempt['request']): string[] {
  const sent = ['host', url.host, 'connection', 'keep-alive', ...headers, 'content-length', String(body.length)];
  return sent.map((text, index) => {
    const shown = mask === null || index % 2 === 0 ? text : mask.sent(sent[index - 1] ?? '', text);
    return cut(shown, keptValueCharacters);
  });
}

function keptHeadersOf(headers: Iterable<readonly [string, string]>, mask: HeaderMask | null): string[] {
  const kept: string[] = [];
  for (const [name, value] of headers) {
    if (kept.length === 2 * keptHeaders) break;
    // Masked before the text is cut, which could leave a part of the secret.
    const shownName = mask?.name(name) ?? name;
    const shownValue = mask?.value(value) ?? value;
    kept.push(cut(shownName, keptNameCharacters), cut(readable(shownValue), keptValueCharacters));
  }
  return kept;
}

/**
 * Headers are decoded as ISO 8859-1, but servers that send other characters than those of ASCII mostly send UTF-8. Control characters
 * are replaced, because a terminal could take them as an escape sequence.
 */
function readable(value: string): string {
  return /^[ -~]*$/.test(value) ? value : decoded(value).replaceAll(/[^\P{Cc}\t]/gu, '\uFFFD');
}

function decoded(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters - 1)}…` : text;
}
