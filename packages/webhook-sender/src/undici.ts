import { createRequire } from 'node:module';
import type * as Undici from 'undici';

// undici has no entry point for less than all of it: fetch, caches, mocks and proxies, which take 13 MB of memory.
const require = createRequire(import.meta.url);

export const Client: typeof Undici.Client = require('undici/lib/dispatcher/client.js');
export type Client = Undici.Client;

export const errors: typeof Undici.errors = require('undici/lib/core/errors.js');
