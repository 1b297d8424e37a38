export const names = {
  service: 'shop',
  gidNamespace: 'shop',
  apiKeyPrefix: 'sh',
  headerPrefix: 'X-Shop',
  userAgent: 'Shop',
} as const;
