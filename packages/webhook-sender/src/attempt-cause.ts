type Describe = (receiver: string, responseStatus: number | null) => string;

const notConnected =
  (problem: string): Describe =>
  (receiver) =>
    `Could not connect to ${receiver}: ${problem}.`;

const notSecured =
  (problem: string): Describe =>
  (receiver) =>
    `Could not establish a TLS connection to ${receiver}: ${problem}.`;

const notHttp =
  (problem: string): Describe =>
  (receiver) =>
    `The response of ${receiver} is not valid HTTP/1.1: ${problem}.`;

const descriptions = {
  NOT_OPENED: () => 'The service could not open a connection. The receiver is not the cause. Try again later.',
  REFUSED: notConnected(
    'the connection was refused. Check that the server is running and that no firewall blocks the port',
  ),
  RESET: notConnected(
    'the connection was reset. Check that the server is running and that no firewall blocks the port',
  ),
  UNREACHABLE: notConnected('no route leads to its addresses. Check that other networks can reach them'),
  NOT_ACCEPTED: (receiver) => `${receiver} did not accept the connection. Check that no firewall blocks it.`,

  CERTIFICATE_EXPIRED: notSecured('the certificate has expired. Renew it'),
  CERTIFICATE_NOT_YET_VALID: notSecured('the certificate is not valid yet'),
  CERTIFICATE_SELF_SIGNED: notSecured(
    'the certificate is self-signed. Use a certificate of a public certificate authority',
  ),
  CERTIFICATE_CHAIN: notSecured(
    'the certificate chain does not lead to a public certificate authority. Check that the server sends its intermediate certificates',
  ),
  CERTIFICATE_OF_OTHER_HOST: notSecured(
    'the certificate is for another host name. Use a certificate for this host name',
  ),
  CERTIFICATE_UNSUITABLE: notSecured(
    'the certificate was not accepted. Check that it is for servers, and that its key and its signature are strong enough',
  ),
  TLS_REFUSED: notSecured(
    'the server refused the TLS handshake. Check that it supports TLS 1.2 or later for this host name, without a client certificate',
  ),
  TLS_NOT_POSSIBLE: notSecured(
    'the TLS handshake failed. Check that the server supports TLS 1.2 or later on this port',
  ),
  TLS_CLOSED: notSecured('the server closed the connection during the TLS handshake'),
  TLS_NOT_COMPLETED: (receiver) => `${receiver} accepted the connection but did not complete the TLS handshake.`,

  RESPONSE_RESET: (receiver) => `The connection to ${receiver} was reset before the response was complete.`,
  CLOSED: (receiver) => `${receiver} closed the connection before the response was complete.`,
  NO_RESPONSE: (receiver) => `${receiver} did not send the response headers.`,
  BODY_NOT_ENDED: (receiver, responseStatus) =>
    `${receiver} returned status ${responseStatus}, but the response body did not end.`,
  BODY_ENDED_EARLY: (receiver, responseStatus) =>
    `${receiver} returned status ${responseStatus}, but the body ended early: before its Content-Length, or before its last chunk. Check what sets Content-Length, and what closes the connection.`,
  CHUNK_INVALID: (receiver, responseStatus) =>
    `${receiver} returned status ${responseStatus}, but the chunks of the body are not valid HTTP/1.1. Check what writes them: a script, or a proxy that changes the body.`,
  STATUS_INVALID: notHttp('its status is not a number from 100 to 999'),
  HEADER_NAME_INVALID: notHttp(
    'a header line has no colon, a blank before it, or another forbidden character in its name. Correct the header; proxies and firewalls add such ones too',
  ),
  HEADER_VALUE_INVALID: notHttp(
    'the value of a header has a control character. Remove it; proxies and firewalls add such headers too',
  ),
  HEADER_FOLDED: notHttp(
    'a header line starts with a blank. Write each header in one line; proxies and firewalls add such headers too',
  ),
  LINE_END_INVALID: notHttp(
    'a line of its head does not end with CR LF. Correct the line end; proxies and firewalls add headers with such ones too',
  ),
  LENGTHS_CONFLICT: notHttp(
    'it has two Content-Length headers, or Content-Length and Transfer-Encoding. Send one of them; proxies and firewalls add the other one too',
  ),
  LENGTH_INVALID: notHttp(
    'its Content-Length is not one number. Correct it; proxies and firewalls change this header too',
  ),
  NOT_HTTP: (receiver) =>
    `The response of ${receiver} is not valid HTTP/1.1. Check that the port belongs to an HTTP server.`,
  HEADERS_TOO_LARGE: (receiver) => `The response headers of ${receiver} are larger than 16 kB. Send smaller headers.`,
  RESPONSE_TOO_LARGE: (receiver) => `The response of ${receiver} is larger than 1 MB. Send a status and a short body.`,
  INTERIM_RESPONSES: (receiver) =>
    `${receiver} sent more than 16 interim responses (status 1xx). Send the final response.`,
  PROTOCOL_SWITCHED: (receiver) =>
    `${receiver} sent status 101 (Switching Protocols), which the request did not ask for. Send a final response over HTTP/1.1, and check that the path is not that of a WebSocket.`,
  REQUEST_NOT_SENT: () => 'The request could not be built, or not be written as HTTP.',
} satisfies Record<string, Describe>;

/**
 * Why an attempt received no complete response, more precisely than its class. The codes are stored, so their meaning does not
 * change. `DNS_FAILED` has no cause, because that would tell which names exist in the internal DNS.
 */
export type AttemptCause = keyof typeof descriptions;

export function isAttemptCause(code: string): code is AttemptCause {
  return Object.hasOwn(descriptions, code);
}

/**
 * Says what happened and what the owner of the receiver can do.
 *
 * @param receiver its host and port, or what else stands for it in a sentence
 * @param responseStatus null if no response headers were received
 */
export function describeCause(cause: AttemptCause, receiver: string, responseStatus: number | null = null): string {
  return descriptions[cause](receiver, responseStatus);
}
