import { createRequire } from 'node:module';

// `require`, because an import of a file outside of `src` does not compile.
const { version }: { version: string } = createRequire(import.meta.url)('../package.json');

/** What the command line registers itself as. */
export const build = { version, contracts: new URL('contracts.json', import.meta.url) };
