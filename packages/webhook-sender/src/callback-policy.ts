/**
 * What a callback URL may be. `public`: HTTPS at an address of the public internet. `development`: HTTP and private
 * addresses too, so that a receiver can run on the same machine; never in production.
 */
export type CallbackPolicy = 'development' | 'public';
