import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/webhook-did-not-arrive.md'), 'utf8');

const blocks = [...page.matchAll(/^```graphql\n((?:query|mutation) (\w+).*?)^```$/gms)];

/** The operations of the page by their names, in its order. */
export const documents = Object.fromEntries(blocks.map(([, text = '', name = '']) => [name, text]));
