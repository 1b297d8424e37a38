export const names = { gidNamespace: 'shop', apiKeyPrefix: 'sh', headerPrefix: 'X-Shop', userAgent: 'Shop' } as const;
