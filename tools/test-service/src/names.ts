/** Those of `testService`, which imports what is generated. */
export const names = {
  service: 'test_service',
  gidNamespace: 'service',
  apiKeyPrefix: 'dw',
  headerPrefix: 'X-Service',
  userAgent: 'Deedwire-Webhooks',
} as const;
