/** Descriptions of the request headers. */
export const requestHeaderDescriptions: Readonly<Record<string, string>> = {
  Accept:
    '`application/graphql-response+json` or `application/json`: the media type of the response. Defaults to `application/json`.',
  'Content-Type': '`application/json`, in UTF-8.',
  'X-Service-API-Key': 'The API key. It works on this interface only.',
  'X-Service-Client-Id': 'The id of the API client.',
  'X-Service-Organization-Id': 'The id of the organization, the same for all its API clients.',
  'X-Service-Schema-Version': 'The interface version to use. Defaults to the version pinned on the API client.',
};

/** Example values of the request headers. */
export const requestHeaderExamples: Readonly<Record<string, string>> = {
  Accept: 'application/graphql-response+json',
  'Content-Type': 'application/json',
  'X-Service-API-Key': '<API_KEY>',
  'X-Service-Client-Id': '<CLIENT_ID>',
  'X-Service-Organization-Id': '<ORGANIZATION_ID>',
};
