/** What a client says with each header of a request. */
export const requestHeaderWords: Readonly<Record<string, string>> = {
  Accept:
    '`application/graphql-response+json` or `application/json`: the media type of the answer. `application/json` when left out.',
  'Content-Type': '`application/json`, in UTF-8.',
  'X-Service-API-Key': 'The API key. It works on this interface only.',
  'X-Service-Client-Id': 'The id of the API client.',
  'X-Service-Organization-Id': 'The id of the organization. The same for all its clients.',
  'X-Service-Schema-Version':
    'The version of the interface that the request is written for. When left out, the one pinned on the API client counts.',
};

/** An example of each header that every request needs. */
export const requestHeaderExamples: Readonly<Record<string, string>> = {
  Accept: 'application/graphql-response+json',
  'Content-Type': 'application/json',
  'X-Service-API-Key': '<API_KEY>',
  'X-Service-Client-Id': '<CLIENT_ID>',
  'X-Service-Organization-Id': '<ORGANIZATION_ID>',
};
