/**
 * The callback URLs that are allowed.
 *
 * - `public`: only HTTPS to a public address.
 * - `development`: also HTTP and private addresses, so that a receiver can run on the same machine. Unsafe in production.
 */
export type CallbackPolicy = 'development' | 'public';
