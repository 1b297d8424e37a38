/** What each header of an answer tells. */
export const responseHeaderWords: Readonly<Record<string, string>> = {
  Allow: 'The method that is allowed.',
  'Cache-Control': 'Answers are not to be kept.',
  'Retry-After': 'How many seconds to wait before the next try.',
  'WWW-Authenticate': 'How to authenticate.',
  'X-Request-Id': 'Names the request. Quote it when you report a fault.',
  'X-Service-Schema-Version': 'The version that served the request.',
};
