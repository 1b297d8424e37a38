export { apiKeyPattern, exampleApiKey, generateApiKey, parseApiKey } from './api-key.ts';
export type { GeneratedApiKey, ParsedApiKey } from './api-key.ts';
export { createAuthenticator } from './authenticator.ts';
export type {
  AuthenticatedClient,
  AuthenticationResult,
  Authenticator,
  AuthenticatorOptions,
  Refusal,
} from './authenticator.ts';
export { readCredentials } from './credentials.ts';
export type { Credentials } from './credentials.ts';
export type { InterfaceName } from './interface-name.ts';
export type { CostLimit, StoredApiKey } from './stored-api-key.ts';
