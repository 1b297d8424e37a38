import type { IncomingMessage } from 'node:http';
import { type HttpResponse, type Logger, requestPath } from '@deedwire/service-runtime';
import type { GraphqlHandler } from '../graphql-handler.ts';
import { type BarOptions, showBar } from './bar.ts';

export interface GraphiqlOptions {
  /** The path of the interface. */
  path: string;
  title: string;
  /** Oldest first. */
  versions: readonly { version: string; status: string }[];
  /** Header fields that the page fills in, with the credentials of a test client. */
  headers: Readonly<Record<string, string>>;
  logger: Pick<Logger, 'warn'>;
}

/** The values of the Host header under which a browser reaches this machine, without port. */
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Serves GraphiQL to browsers at the path of the interface, and everything else by `handle`. For development only: the page
 * contains credentials, and its package is a development dependency. Without the package, browsers get what `handle` responds.
 */
export function withGraphiql(handle: GraphqlHandler, options: GraphiqlOptions): GraphqlHandler {
  return async (request, context) => {
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
  { path, title, versions, headers, logger }: GraphiqlOptions,
): Promise<HttpResponse | null> {
  const library = await import('@graphql-yoga/render-graphiql').catch((error: unknown) => {
    logger.warn({ err: error }, 'GraphiQL is not installed');
    return null;
  });
  if (library === null) return null;
  const asked = URL.parse(url, 'http://localhost')?.searchParams.get('version');
  // Only a known version, because it becomes a part of a script.
  const named = versions.find(({ version }) => version === asked)?.version ?? null;
  const bar: BarOptions = { versions: versions.map(({ version, status }) => ({ version, status })), named };
  const isLocal = loopbackHosts.has(host.replace(/:\d+$/, ''));
  const page = library.renderGraphiQL({
    title,
    endpoint: path,
    // A page of another site that makes its name resolve to this machine gets no credentials.
    headers: JSON.stringify(isLocal ? headers : {}, null, 2),
    additionalHeaders: named === null ? {} : { 'X-Service-Schema-Version': named },
    defaultQuery: `# ${title}. The panel on the left documents each field.\n\n{\n  __typename\n}\n`,
  });
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    },
    body: page.replace('<script>', () => `<script>(${showBar.toString()})(${JSON.stringify(bar)});</script>\n<script>`),
  };
}
