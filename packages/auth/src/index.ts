export { apiKeyPattern, type GeneratedApiKey, generateApiKey, parseApiKey } from './api-key.ts';
export { addressBlock } from './address-block.ts';
export {
  type AddressRange,
  type AddressRanges,
  hasHostBits,
  parseRange,
  readRanges,
  toAddressRanges,
} from './address-ranges.ts';
export { type AddressLimiter, createAddressLimiter } from './address-limiter.ts';
export { createAuthenticator, maxCacheMs, requestsWithoutKey } from './authenticator.ts';
export type {
  AuthenticatedClient,
  AuthenticationRefusal,
  AuthenticationResult,
  Authenticator,
} from './authenticator.ts';
export { readCredentials } from './credentials.ts';
export { createKeyCache } from './key-cache.ts';
export type { CostLimit, StoredApiKey } from './stored-api-key.ts';
export { storedHash } from './stored-hash.ts';
