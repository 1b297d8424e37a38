/** Descriptions of the response headers. */
export const responseHeaderDescriptions: Readonly<Record<string, string>> = {
  Allow: 'The allowed method.',
  'Cache-Control': 'Responses must not be stored.',
  Deprecation:
    'The time of the deprecation: `@` followed by Unix seconds ([RFC 9745](https://www.rfc-editor.org/rfc/rfc9745)).',
  Link: 'Links to the documentation of the deprecation and the sunset.',
  RateLimit:
    'The cost points that the client has left, `r`, and the seconds until it has more, `t` ([draft-ietf-httpapi-ratelimit-headers-11](https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11)).',
  'RateLimit-Policy': 'The size of the client’s bucket of cost points, `q`, and the seconds in which it fills up, `w`.',
  'Retry-After': 'Seconds to wait before the next request.',
  Sunset:
    'The time from which the version is rejected: an HTTP-date ([RFC 8594](https://www.rfc-editor.org/rfc/rfc8594)).',
  'WWW-Authenticate': 'How to authenticate.',
  'X-Content-Type-Options': 'The media type of the response must not be guessed.',
  'X-Request-Id': 'Identifies the request. Quote it when you report a problem.',
  'X-Service-Schema-Version': 'The version that served the request.',
};

/** Descriptions of when a header is sent, if that does not depend on the HTTP status. */
export const sentDescriptions: Readonly<Record<string, string>> = {
  always: 'always',
  authenticated: 'when the credentials are valid',
  'with-version': 'when a version was selected',
  'deprecated-version': 'for a deprecated version',
};
