import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type HttpResponse, type Logger, requestPath } from '@deedwire/service-runtime';
import type { GraphqlHandler } from '../graphql-handler.ts';
import { type PageOptions, pageOptions } from './page-options.ts';

export interface GraphiqlOptions {
  /** The path of the interface. */
  path: string;
  title: string;
  /** Oldest first. */
  versions: readonly { version: string; status: string }[];
  /**
   * A folder with the operation that the page begins with: the file `name` in the folder of its version, or of the last one before.
   */
  example: { folder: string; name: string };
  /** Header fields that the page fills in, with the credentials of a test client. */
  headers: Readonly<Record<string, string>>;
  logger: Pick<Logger, 'warn'>;
}

/** The values of the Host header under which a browser reaches this machine, without port. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Serves GraphiQL to browsers at the path of the interface, redirects them there from `/`, and serves everything else by `handle`.
 * For development only: the page contains credentials, and its package is a development dependency. Without the package,
 * browsers get what `handle` responds.
 */
export function withGraphiql(handle: GraphqlHandler, options: GraphiqlOptions): GraphqlHandler {
  return async (request, context) => {
    if (isPageRequest(request, '/')) return { status: 302, headers: { Location: options.path }, body: '' };
    const page = isPageRequest(request, options.path) ? await renderPage(request, options) : null;
    return page ?? handle(request, context);
  };
}

/** A quality of 0 means that the client does not take the type. */
const acceptsHtml = /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

function isPageRequest(request: IncomingMessage, path: string): boolean {
  return request.method === 'GET' && requestPath(request) === path && acceptsHtml.test(request.headers.accept ?? '');
}

async function renderPage(
  { url = '/', headers: { host = '' } }: IncomingMessage,
  { path, title, versions, example, headers, logger }: GraphiqlOptions,
): Promise<HttpResponse | null> {
  const library = await import('@graphql-yoga/render-graphiql').catch((error: unknown) => {
    logger.warn({ err: error }, 'GraphiQL is not installed');
    return null;
  });
  if (library === null) return null;
  const asked = URL.parse(url, 'http://localhost')?.searchParams.get('version');
  // Only a known version, because it becomes a part of a script.
  const named = versions.find(({ version }) => version === asked)?.version ?? null;
  const options: PageOptions = {
    endpoint: path,
    versions: await Promise.all(
      versions.map(async ({ version, status }) => ({ version, status, example: await readExample(example, version) })),
    ),
    named,
    // A page of another site that makes its name resolve to this machine gets no credentials.
    headers: JSON.stringify(loopbackHosts.has(host.replace(/:\d+$/, '')) ? headers : {}, null, 2),
  };
  const page = library.renderGraphiQL({ title, headers: options.headers });
  // The last one starts GraphiQL.
  const call = page.lastIndexOf(startCall);
  const start = `const start = (root, options) => ${startCall}root, { ...options, ...(${pageOptions.toString()})(${inScript(options)}) });`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    },
    body: `${page.slice(0, call)}\n${start}\nstart(${page.slice(call + startCall.length)}`,
  };
}

const startCall = 'YogaGraphiQL.renderYogaGraphiQL(';

/** JSON that cannot end the script that contains it. */
function inScript(value: object): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}

async function readExample({ folder, name }: GraphiqlOptions['example'], version: string): Promise<string> {
  // The published packages have no examples.
  const dates = (await readdir(folder).catch(() => []))
    .filter((date) => date <= version)
    .toSorted()
    .toReversed();
  for (const date of dates) {
    const text = await readFile(join(folder, date, name), 'utf8').catch(() => null);
    if (text !== null) return text;
  }
  return '{\n  __typename\n}\n';
}
