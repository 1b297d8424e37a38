import type { WholeExchange } from '@deedwire/actions';

/** A longer text or Base64 of a body is cut. */
const shownCharacters = 2_000;

/** What an attempt sent and received, as lines for a terminal. */
export function describeExchange(number: number, exchange: WholeExchange | null): string {
  if (exchange === null) return `Attempt ${number}: no details were kept.`;
  const { callbackUrl, remoteAddress, replayId, requestHeaders, responseHeaders } = exchange;
  return [
    `Attempt ${number}: POST ${callbackUrl === null ? 'to a callback URL that has changed since' : callbackUrl}`,
    `  address ${remoteAddress ?? '-'}, ${timesOf(exchange)}${replayId === null ? '' : `, sent by ${replayId}`}`,
    ...requestHeaders.map(({ name, value }) => `> ${name}: ${value}`),
    ...responseHeaders.map(({ name, value }) => `< ${name}: ${value}`),
    ...bodyOf(exchange),
  ].join('\n');
}

function timesOf({ dnsMs, connectMs, tlsMs, firstByteMs }: WholeExchange): string {
  const times = { DNS: dnsMs, connect: connectMs, TLS: tlsMs, 'first byte': firstByteMs };
  return Object.entries(times)
    .map(([step, ms]) => `${step} ${ms === null ? '-' : `${ms} ms`}`)
    .join(', ');
}

function bodyOf({ responseBody, responseBodyBase64, responseBytes }: WholeExchange): string[] {
  const read = `${responseBytes.toLocaleString('en')} bytes were read`;
  const text = responseBody ?? responseBodyBase64;
  if (text === null) return [`  No response body was kept; ${read}.`];
  const kind = responseBody === null ? 'Response body in Base64' : 'Response body';
  const rest = text.length - shownCharacters;
  return [
    `  ${kind}; ${read}:`,
    // Indented, so that no line of a body looks like one of this output.
    ...text
      .slice(0, shownCharacters)
      .split('\n')
      .map((line) => `  | ${line}`),
    ...(rest > 0 ? [`  … ${rest.toLocaleString('en')} more characters: --json shows them`] : []),
  ];
}
