import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { buildSchema, graphqlSync } from 'graphql';

/** A server on the loopback interface that serves pages, packages and a GraphQL schema. */
export interface ContractServer {
  readonly origin: string;
  /** The responses to GET requests by path. */
  readonly pages: Map<string, Uint8Array | string>;
  /** Returns whether `/graphql` responds to a query. Otherwise, it responds with 400. */
  allows: (query: string) => boolean;
  /** What `/graphql` responds to GET requests, with status 200. Null for an error. */
  greeting: { readonly type: string; readonly text: string } | null;
  /** The header `authorization` that `/graphql` demands. Null for none. */
  authorization: string | null;
  /** Serves a tarball as a package, as a registry does. */
  publish(name: string, version: string, tarball: string): void;
  close(): void;
}

export async function startContractServer(sdl: string): Promise<ContractServer> {
  const pages = new Map<string, Uint8Array | string>();
  const schema = buildSchema(sdl);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/graphql') {
      const body = await text(request);
      if (result.authorization !== null && request.headers.authorization !== result.authorization) {
        response.writeHead(401).end('{"errors":[{"message":"Unauthorized"}]}');
        return;
      }
      if (request.method === 'GET' && result.greeting !== null) {
        response.writeHead(200, { 'content-type': result.greeting.type }).end(result.greeting.text);
        return;
      }
      const query: string = body === '' ? '' : JSON.parse(body).query;
      const isAllowed = query !== '' && result.allows(query);
      const answer = isAllowed ? graphqlSync({ schema, source: query }) : { errors: [{ message: 'No.' }] };
      response.writeHead(isAllowed ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    const page = pages.get(request.url ?? '');
    response.writeHead(page === undefined ? 404 : 200).end(page ?? 'nothing here');
  }

  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const result: ContractServer = {
    origin,
    pages,
    allows: () => true,
    greeting: null,
    authorization: null,
    publish(name, version, tarball) {
      const bytes = readFileSync(tarball);
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const path = `/${encodeURIComponent(name).replace('%40', '@').toLowerCase()}`;
      const versions = { [version]: { name, version, dist: { tarball: `${origin}${path}.tgz`, integrity } } };
      pages.set(`${path}.tgz`, bytes);
      pages.set(path, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    },
    close: () => server.close(),
  };
  return result;
}
