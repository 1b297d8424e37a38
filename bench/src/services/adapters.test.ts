import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { BenchProblem } from '../bench.ts';
import { connectServices, eventPayload } from './adapters.ts';

const env = { SVIX_TOKEN: 't1', OUTPOST_API_KEY: 't2', CONVOY_API_KEY: 't3', CONVOY_PROJECT_ID: 'project' };
const urls = ['http://127.0.0.1:1/event/0', 'http://127.0.0.1:1/event/1'];

interface Exchange {
  request: string;
  body?: unknown;
}

let stop = async (): Promise<void> => {};
afterEach(() => stop());

/** Answers with the responses in turn, the last one repeatedly. Returns its URL and what it received. */
async function serve(...responses: [status: number, body: string][]): Promise<{ url: string; received: Exchange[] }> {
  const received: Exchange[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const line = `${request.method} ${request.url} ${request.headers.authorization ?? ''}`;
    received.push(body === '' ? { request: line } : { request: line, body: JSON.parse(body) });
    const [status, answer] = responses[Math.min(received.length, responses.length) - 1] ?? [500, ''];
    response.writeHead(status).end(answer);
  };
  const server = createServer((request, response) => void respond(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, received };
}

function connect(name: string, url: string) {
  const [service] = connectServices({ [name]: url }, env);
  if (service === undefined) throw new Error('There is no service.');
  return service;
}

/** What creating a tenant rejects with. */
async function problemOf(name: string, url: string): Promise<unknown> {
  return connect(name, url)
    .createTenant('bench-1', urls)
    .catch((error: unknown) => error);
}

describe('the requests', () => {
  it('of Svix create an application with endpoints, whose id the later requests use', async () => {
    const { url, received } = await serve([201, '{"id":"app_1"}'], [201, '{}'], [201, '{}'], [204, '']);
    const tenant = await connect('svix', url).createTenant('bench-1', urls);
    await tenant.remove();
    expect(received).toEqual([
      { request: 'POST /api/v1/app Bearer t1', body: { name: 'bench-1' } },
      ...urls.map((each) => ({ request: 'POST /api/v1/app/app_1/endpoint Bearer t1', body: { url: each } })),
      { request: 'DELETE /api/v1/app/app_1 Bearer t1' },
    ]);
    expect(tenant.event).toMatchObject({ origin: url, path: '/api/v1/app/app_1/msg', status: 202 });
    expect(JSON.parse(tenant.event.body)).toEqual({ eventType: 'referral.created', payload: eventPayload });
  });

  it('of Outpost create a tenant with destinations', async () => {
    const { url, received } = await serve(
      [200, '["referral.created"]'],
      [201, '{}'],
      [201, '{}'],
      [201, '{}'],
      [200, '{}'],
    );
    const tenant = await connect('outpost', url).createTenant('bench-1', urls);
    await tenant.remove();
    expect(received).toEqual([
      { request: 'GET /api/v1/topics Bearer t2' },
      { request: 'PUT /api/v1/tenants/bench-1 Bearer t2' },
      ...urls.map((each) => ({
        request: 'POST /api/v1/tenants/bench-1/destinations Bearer t2',
        body: { type: 'webhook', topics: ['*'], config: { url: each } },
      })),
      { request: 'DELETE /api/v1/tenants/bench-1 Bearer t2' },
    ]);
    expect(tenant.event).toMatchObject({ origin: url, path: '/api/v1/publish', status: 202 });
    expect(JSON.parse(tenant.event.body)).toEqual({
      tenant_id: 'bench-1',
      topic: 'referral.created',
      data: eventPayload,
    });
  });

  it('of Convoy subscribe each endpoint of the owner, and remove each', async () => {
    const { url, received } = await serve(
      [201, '{"data":{"uid":"ep0"}}'],
      [201, '{}'],
      [201, '{"data":{"uid":"ep1"}}'],
      [201, '{}'],
      [200, '{}'],
    );
    const tenant = await connect('convoy', url).createTenant('bench-1', urls);
    await tenant.remove();
    const project = '/api/v1/projects/project';
    expect(received).toMatchObject([
      ...urls.flatMap((each, index) => [
        { request: `POST ${project}/endpoints Bearer t3`, body: { url: each, owner_id: 'bench-1' } },
        { request: `POST ${project}/subscriptions Bearer t3`, body: { endpoint_id: `ep${index}` } },
      ]),
      { request: `DELETE ${project}/endpoints/ep0 Bearer t3` },
      { request: `DELETE ${project}/endpoints/ep1 Bearer t3` },
    ]);
    expect(tenant.event).toMatchObject({ origin: url, path: `${project}/events/fanout`, status: 201 });
    expect(JSON.parse(tenant.event.body)).toMatchObject({ owner_id: 'bench-1', data: eventPayload });
  });
});

describe('a problem', () => {
  it('names a service that does not respond', async () => {
    const { url } = await serve();
    await stop();
    const error = await problemOf('svix', url);
    expect(error).toBeInstanceOf(BenchProblem);
    expect(String(error)).toMatch(
      /svix does not respond to POST http:\/\/127\.0\.0\.1:\d+\/api\/v1\/app: .*ECONNREFUSED/,
    );
  });

  it('names the variable of a token that the service rejects', async () => {
    const { url } = await serve([401, '{"code":"authentication_failed"}']);
    expect(String(await problemOf('svix', url))).toContain('svix rejects the token in SVIX_TOKEN: it responds 401');
  });

  it.each([
    [
      [404, '<html>'],
      'responds 404 to POST',
      'but the bench expects 201. Is it another version? The response: "<html>"',
    ],
    [[201, '<html>'], 'responds 201 to POST', 'without JSON. Is the URL correct? The response: "<html>"'],
    [[201, '{"app":1}'], 'The application of Svix has no id', 'Is it another version? It is: {"app":1}'],
  ] as const)('quotes the response %j', async ([status, body], what, quote) => {
    const { url } = await serve([status, body]);
    const error = await problemOf('svix', url);
    expect(error).toBeInstanceOf(BenchProblem);
    expect(String(error)).toContain(what);
    expect(String(error)).toContain(quote);
  });

  it('says which topic Outpost lacks', async () => {
    const { url } = await serve([200, '["user.created"]']);
    expect(String(await problemOf('outpost', url))).toContain(
      'Outpost must have the topic referral.created in TOPICS. It has: ["user.created"]',
    );
  });

  it.each([
    [{ svix: 'localhost:8071' }, env, '--svix must be a URL such as http://127.0.0.1:8080, not "localhost:8071".'],
    [{ svix: 'http://127.0.0.1:1' }, {}, 'The environment variable SVIX_TOKEN must be set.'],
    [{ 'convoy-pids': '1' }, env, '--convoy-pids needs --convoy <URL>.'],
    [{ svix: 'http://127.0.0.1:1', 'svix-pids': 'x' }, env, '--svix-pids must be numbers such as 123,456, not "x".'],
  ])('rejects the command line %j', (values: Record<string, string>, variables, problem) => {
    expect(() => connectServices(values, variables)).toThrow(new BenchProblem(problem));
  });
});
