import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type HttpResponse, type Logger, requestPath } from '@deedwire/service-runtime';
import type * as Library from '@graphql-yoga/render-graphiql';
import { acceptsHtml } from '../transport/accepts-html.ts';
import { type PageOptions, pageOptions } from './page-options.ts';

export interface GraphiqlOptions {
  /** The path of the interface. */
  path: string;
  title: string;
  /** Oldest first. */
  versions: readonly { version: string; status: string }[];
  /**
   * A folder with the operation that the page begins with: the file `name` in the folder of its version, or of the last one before. Null:
   * there is none.
   */
  example: { folder: string | null; name: string };
  /** Header fields that the page fills in, with the credentials of a test client. */
  headers: Readonly<Record<string, string>>;
  /** The header in which a client names a version. */
  versionHeader: string;
  logger: Pick<Logger, 'warn'>;
}

/** The values of the Host header under which a browser reaches this machine, without port. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Null: the request is none of a browser for the page, or GraphiQL is not installed. */
export type Graphiql = (message: IncomingMessage) => Promise<HttpResponse | null>;

/**
 * Serves GraphiQL to browsers at the path of the interface, and redirects them there from `/`. For development only: the page contains
 * credentials, and its package is a development dependency. Without the package, browsers get what others get.
 */
export function createGraphiql(options: GraphiqlOptions): Graphiql {
  const { path, title, versions, example, versionHeader, logger } = options;
  // For the first page: loading its 9 MB takes 0.08 of the 1.1 CPU seconds of starting an app.
  let loading: Promise<typeof Library | null> | undefined;
  const load = (): Promise<typeof Library | null> =>
    (loading ??= import('@graphql-yoga/render-graphiql').catch((error: unknown) => {
      logger.warn({ err: error }, 'GraphiQL is not installed');
      return null;
    }));

  async function render(message: IncomingMessage, { renderGraphiQL }: typeof Library): Promise<string> {
    const isLocal = loopbackHosts.has((message.headers.host ?? '').replace(/:\d+$/, ''));
    // A page of another site that makes its name resolve to this machine gets no credentials.
    const headers = JSON.stringify(isLocal ? options.headers : {}, null, 2);
    const asked = URL.parse(message.url ?? '/', 'http://localhost')?.searchParams.get('version');
    // Only a known version, because it becomes a part of a script.
    const named = versions.find(({ version }) => version === asked)?.version ?? null;
    const readExamples = versions.map(async ({ version, status }) => ({
      version,
      status,
      example: await readExample(example, version),
    }));
    const page = renderGraphiQL({ title, headers });
    return withBar(page, {
      endpoint: path,
      versions: await Promise.all(readExamples),
      versionHeader,
      named,
      headers,
    });
  }

  return async (message) => {
    const asked = requestPath(message);
    if (message.method !== 'GET' || (asked !== path && asked !== '/') || !acceptsHtml(message)) return null;
    if (asked === '/') return { status: 302, headers: { Location: path }, body: '' };
    const library = await load();
    if (library === null) return null;
    const headers = {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    };
    return { status: 200, headers, body: await render(message, library) };
  };
}

/** The page, started with our options. */
function withBar(page: string, options: PageOptions): string {
  // The last one starts GraphiQL.
  const call = page.lastIndexOf(startCall);
  const start = `const start = (root, options) => ${startCall}root, { ...options, ...(${pageOptions.toString()})(${inScript(options)}) });`;
  return `${page.slice(0, call)}\n${start}\nstart(${page.slice(call + startCall.length)}`;
}

const startCall = 'YogaGraphiQL.renderYogaGraphiQL(';

/** JSON that cannot end the script that contains it. */
function inScript(value: object): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}

const anyQuery = '{\n  __typename\n}\n';

async function readExample({ folder, name }: GraphiqlOptions['example'], version: string): Promise<string> {
  if (folder === null) return anyQuery;
  // The published packages have no examples.
  const dates = (await readdir(folder).catch(() => []))
    .filter((date) => date <= version)
    .toSorted()
    .toReversed();
  for (const date of dates) {
    const text = await readFile(join(folder, date, name), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return anyQuery;
}
