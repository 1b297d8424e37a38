/** The only header of a request that is a secret, in lower case. */
export const apiKeyHeader = 'x-service-api-key';
