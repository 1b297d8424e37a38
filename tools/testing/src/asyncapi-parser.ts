import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installApart } from './apart.ts';

interface Parser {
  parse(document: string): Promise<{ diagnostics: { severity: number; path: (string | number)[]; message: string }[] }>;
}

/** The official parser of AsyncAPI documents. */
export async function loadAsyncApiParser() {
  const apart = await installApart('asyncapi');
  const { Parser }: { Parser: new () => Parser } = createRequire(join(apart.folder, 'package.json'))(
    '@asyncapi/parser',
  );
  return {
    /** The errors and warnings of a document, as `path: message`. */
    async problemsOf(document: object): Promise<string[]> {
      const { diagnostics } = await new Parser().parse(JSON.stringify(document));
      // 0 is an error, 1 a warning, 2 a piece of information and 3 a hint.
      return diagnostics
        .filter(({ severity }) => [0, 1].includes(severity))
        .map(({ path, message }) => `${path.join('/')}: ${message}`);
    },
    remove: () => apart.remove(),
  };
}
