/** What each header of an answer tells. */
export const responseHeaderWords: Readonly<Record<string, string>> = {
  Allow: 'The method that is allowed.',
  'Cache-Control': 'Answers are not to be kept.',
  Deprecation:
    'Since when the version is deprecated: Unix seconds behind an `@` ([RFC 9745](https://www.rfc-editor.org/rfc/rfc9745)).',
  Link: 'Where deprecation and sunset are explained.',
  'Retry-After': 'How many seconds to wait before the next try.',
  Sunset: 'From when on the version is refused: an HTTP-date ([RFC 8594](https://www.rfc-editor.org/rfc/rfc8594)).',
  'WWW-Authenticate': 'How to authenticate.',
  'X-Request-Id': 'Names the request. Quote it when you report a fault.',
  'X-Service-Schema-Version': 'The version that served the request.',
};

/** When a header is sent that depends on no status. */
export const sentWords: Readonly<Record<string, string>> = {
  always: 'always',
  'with-version': 'once a version is chosen',
  'deprecated-version': 'by a deprecated version',
};
