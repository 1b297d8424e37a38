import type { InterfaceName } from '@deedwire/core/test-service';
import type { Credential } from '@deedwire/testing';

/** Who sends the requests, and to which path. */
export interface Sender {
  interfaceName: InterfaceName;
  path: string;
  credential: Credential;
  /** Of another interface. */
  foreign: Credential;
}

interface RequestParts {
  method?: string;
  target?: string;
  /** Header fields that are added, replaced, or removed with undefined. An array repeats a field. */
  headers?: Record<string, string | string[] | undefined>;
  body?: string | Buffer | object;
  /** Instead of the header Content-Length and the body. */
  rest?: string;
}

/** The bytes of a request. An object is sent as JSON. */
function request(sender: Sender, parts: RequestParts = {}): Buffer {
  const { method = 'POST', target = sender.path, body = { query: '{ __typename }' }, rest } = parts;
  const { clientId, apiKey, organizationId } = sender.credential;
  const bytes =
    typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const headers: RequestParts['headers'] = {
    Host: 'api.example',
    Connection: 'close',
    'Content-Type': 'application/json',
    'X-Service-Client-Id': clientId,
    'X-Service-API-Key': apiKey,
    'X-Service-Organization-Id': organizationId,
    ...(rest === undefined && { 'Content-Length': String(bytes.length) }),
    ...parts.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((each) => `${name}: ${each}\r\n`),
  );
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), rest === undefined ? bytes : Buffer.from(rest)]);
}

const newer = 'application/graphql-response+json';
const persistedQuery = { persistedQuery: { version: 1, sha256Hash: 'ab'.repeat(32) } };
const hash = new URLSearchParams({ operationName: 'Q', extensions: JSON.stringify(persistedQuery) });
const typename = '{ __typename }';
const chunked = { headers: { 'Transfer-Encoding': 'chunked' } };
const withId = 'query ($id: ID!) { webhookSubscription(id: $id) { id } }';
const multipart =
  '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"{ __typename }"}\r\n--x--\r\n';

const accepts = [
  '*/*',
  'application/json',
  newer,
  `application/json, ${newer}`,
  `${newer};q=0.5, application/json;q=0.9`,
  'text/html',
  'text/html, */*;q=0.1',
  'text/event-stream',
  'multipart/mixed',
  'multipart/mixed;deferSpec=20220824, application/json',
  'application/json;q=0',
  'application/json;charset=latin1',
  'x',
];

const contentTypes = [
  'Application/JSON;Charset="UTF-8"',
  'application/json; charset=latin1',
  'application/graphql',
  'application/graphql+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
];

const bodies: Record<string, string | object> = {
  'no body': '',
  'white space': ' \n',
  'broken JSON': '{"query":"{ __typename',
  'a document': typename,
  'a batch': [{ query: typename }, { query: typename }],
  'an empty batch': '[]',
  'a text': '"x"',
  'null as body': 'null',
  'no query': {},
  'an empty query': { query: ' ' },
  'a query of another type': { query: 1 },
  'variables as a list': { query: typename, variables: [] },
  'variables as a text': { query: typename, variables: '{}' },
  'a name of another type': { query: typename, operationName: 1 },
  'extensions as a text': { query: typename, extensions: 'x' },
  'unknown members': { query: typename, id: 'x', doc_id: 1 },
  'null members': { query: typename, variables: null, operationName: null, extensions: null },
  'a __proto__ member': `{"query":"${typename}","__proto__":{"query":1}}`,
  'a byte order mark': `\uFEFF${JSON.stringify({ query: typename })}`,
  'a hash only': { operationName: 'Q', extensions: persistedQuery },
  'a hash and a query': { query: typename, extensions: persistedQuery },
  'a hash that is no object': { extensions: { persistedQuery: 'x' } },
  'a NUL in a variable': { query: withId, variables: { id: '\0' } },
  'a lone surrogate in a variable': { query: withId, variables: { id: '\ud800' } },
  '2,001 values': { query: withId, variables: { id: Array.from({ length: 2001 }, () => 1) } },
  'a missing variable': { query: withId },
  'a variable of another type': { query: withId, variables: { id: [1] } },
  'an unknown id': { query: withId, variables: { id: 'gid://service/WebhookSubscription/1' } },
};

const documents: Record<string, string> = {
  'a syntax error': '{ __typename',
  'a stray character': '{ __typename } ?',
  'unknown fields': '{ nope\n  nothing }',
  '20 unknown fields': `{ ${Array.from({ length: 20 }, (_, index) => `nope${index}`).join(' ')} }`,
  'an unknown directive': '{ __typename @defer }',
  'deferred fields': '{ ... @defer { __typename } }',
  'a stream': '{ webhookEventTypes @stream(initialCount: 1) { name } }',
  'a subscription': 'subscription { __typename }',
  'only a fragment': 'fragment F on Query { __typename }',
  'a fragment in a cycle': '{ ...F } fragment F on Query { ...F }',
  'two operations without a name': 'query A { __typename } query B { __typename }',
  'fields that conflict': '{ a: __typename a: webhookEventTypes { name } }',
  'a NUL in a text': '{ webhookSubscription(id: "\\u0000") { id } }',
  'too many tokens': `{ ${'__typename '.repeat(2001)} }`,
  'too many levels': `${'{ a'.repeat(11)}${' }'.repeat(11)}`,
  'too many aliases': `{ ${Array.from({ length: 31 }, (_, index) => `a${index}: __typename`).join(' ')} }`,
  'too many directives': `{ ${'__typename @skip(if: false) '.repeat(21)} }`,
  'open brackets': '['.repeat(90_000),
  'many comments': `{ __typename ${'# x\n'.repeat(1000)} }`,
  'a small introspection': '{ __schema { queryType { name } } __type(name: "ID") { kind name } }',
  'deep introspection': '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
  'an expensive list':
    '{ webhookDeliveries(first: 100) { nodes { attempts(last: 20) { exchange { responseBody } } } } }',
  'a page that is too large': '{ webhookDeliveries(first: 101) { nodes { id } } }',
  'a cursor that is none': '{ webhookDeliveries(after: "x") { nodes { id } } }',
  'a skipped field': '{ __typename webhookEventTypes @skip(if: true) { name } }',
  'two mutations':
    'mutation { a: deleteWebhookSubscription(input: { id: "x" }) { deletedWebhookSubscriptionId } b: __typename c: deleteWebhookSubscription(input: { id: "x" }) { deletedWebhookSubscriptionId } }',
  'a mutation of nothing':
    'mutation { deleteWebhookSubscription(input: { id: "x" }) { deletedWebhookSubscriptionId userErrors { code message } } }',
  'a list of event types': '{ webhookEventTypes { name } }',
};

/** The names of the requests and their bytes. Each is sent on its own connection. */
export function recordedRequests(sender: Sender): ReadonlyMap<string, Buffer> {
  const { path, credential, foreign, interfaceName } = sender;
  const own = `{ ${interfaceName} { name } }`;
  const send = (parts?: RequestParts): Buffer => request(sender, parts);
  const one = send({ headers: { Connection: 'keep-alive', 'X-Request-Id': 'theirs' } });
  const last = send();
  const chunk = JSON.stringify({ query: own });
  const body = `${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
  const requests: [string, Buffer][] = [
    ['a query', send({ body: { query: own } })],
    ['a query with a name', send({ body: { query: `query A ${own} query B ${own}`, operationName: 'B' } })],
    ['an empty name', send({ body: { query: own, operationName: '' } })],
    ['an unknown name', send({ body: { query: own, operationName: 'C' } })],
    ['five requests at once', Buffer.concat([one, one, one, one, last])],
    ['a request before a malformed one', Buffer.concat([one, Buffer.from('NOPE\r\n\r\n')])],
    ...['/', '/graphql', `${path}/`, `/x${path}`, path.toUpperCase(), '/health', `/x?${path}`, '//x'].map(
      (target): [string, Buffer] => [`POST ${target}`, send({ target })],
    ),
    ['a query string', send({ target: `${path}?query={nope}&x=/health` })],
    ['a query string that ends with the health check', send({ target: `${path}?/health` })],
    ['the absolute form', send({ target: `http://other.example${path}` })],
    ['another absolute form', send({ target: 'http://other.example/' })],
    ...['GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE', 'PATCH'].map((method): [string, Buffer] => [
      method,
      send({ method }),
    ]),
    ['GET with a query', send({ method: 'GET', target: `${path}?query=${encodeURIComponent(own)}`, body: '' })],
    ['GET with a hash', send({ method: 'GET', target: `${path}?${hash}`, body: '' })],
    ['GET for a client that takes no page', send({ method: 'GET', body: '', headers: { Accept: 'text/html;q=0' } })],
    ['GET / for a browser', send({ method: 'GET', target: '/', body: '', headers: { Accept: 'text/html' } })],
    ['a preflight', send({ method: 'OPTIONS', body: '', headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' } })], // prettier-ignore
    ['an origin', send({ headers: { Origin: 'https://a.example' } })],
    ...accepts.flatMap((accept): [string, Buffer][] => [
      [`Accept: ${accept}`, send({ headers: { Accept: accept } })],
      [`an error with Accept: ${accept}`, send({ headers: { Accept: accept }, body: { query: '{ nope }' } })],
    ]),
    ...contentTypes.map((type): [string, Buffer] => [
      `Content-Type: ${type}`,
      send({ headers: { 'Content-Type': type }, ...(type.startsWith('multipart') && { body: multipart }) }),
    ]),
    ['no Content-Type', send({ headers: { 'Content-Type': undefined } })],
    ['two Content-Types', send({ headers: { 'Content-Type': ['application/json', 'application/json'] } })],
    ['a compressed body', send({ headers: { 'Content-Encoding': 'gzip' } })],
    ['no credentials', send({ headers: { 'X-Service-Client-Id': undefined, 'X-Service-API-Key': undefined } })],
    ['no credentials and a broken body', send({ headers: { 'X-Service-API-Key': undefined }, body: '{' })],
    ['a wrong key', send({ headers: { 'X-Service-API-Key': `${credential.apiKey.slice(0, -6)}000000` } })],
    ['two keys', send({ headers: { 'X-Service-API-Key': [credential.apiKey, credential.apiKey] } })],
    ['another organization', send({ headers: { 'X-Service-Organization-Id': 'x' } })],
    ['a key of the other interface', send({ headers: { 'X-Service-API-Key': foreign.apiKey } })],
    ['the newest version', send({ headers: { 'X-Service-Schema-Version': '2027-02-01' } })],
    ['an unknown version', send({ headers: { 'X-Service-Schema-Version': '1999-01-01' } })],
    ['two versions', send({ headers: { 'X-Service-Schema-Version': ['2026-11-01', '2026-11-01'] } })],
    ['an empty version', send({ headers: { 'X-Service-Schema-Version': '' } })],
    ...Object.entries(bodies).map(([name, sent]): [string, Buffer] => [name, send({ body: sent })]),
    ['invalid UTF-8', send({ body: Buffer.from([0x22, 0xc3, 0x28, 0x22]) })],
    ...Object.entries(documents).map(([name, query]): [string, Buffer] => [name, send({ body: { query } })]),
    ['a method and the newer media type', send({ method: 'PUT', headers: { Accept: newer } })],
    ['a broken body and the newer media type', send({ headers: { Accept: newer }, body: '{' })],
    ['an error and the newer media type', send({ headers: { Accept: newer }, body: { query: '{' } })],
    ['variables and the newer media type', send({ headers: { Accept: newer }, body: { query: withId } })],
    ['a hash and the newer media type', send({ headers: { Accept: newer }, body: { extensions: persistedQuery } })],
    ['a body that is too large', send({ body: { query: `${typename} #${'x'.repeat(100_000)}` } })],
    ['a length that is too large', send({ headers: { 'Content-Length': '100001' }, rest: '' })],
    ['a chunked body', send({ ...chunked, rest: body })],
    ['a chunked body that is too large', send({ ...chunked, rest: `20000\r\n${'x'.repeat(0x20000)}\r\n0\r\n\r\n` })],
    ['a broken chunk', send({ ...chunked, rest: 'z\r\n' })],
    ['a wrong length', send({ headers: { 'Content-Length': 'x' }, rest: '' })],
    ['two lengths', send({ headers: { 'Content-Length': ['2', '3'] }, rest: '{}' })],
    ['100-continue', send({ headers: { Expect: '100-continue' } })],
    ['another expectation', send({ headers: { Expect: 'x' } })],
    ['no Host', send({ headers: { Host: undefined } })],
    ['two Hosts', send({ headers: { Host: ['a', 'b'] } })],
    ['a strange Host', send({ headers: { Host: 'a b/[::' } })],
    ['large headers', send({ headers: { 'X-Large': 'x'.repeat(20_000) } })],
    ['no HTTP', Buffer.from('NOPE\r\n\r\n')],
    ['CONNECT', Buffer.from('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')],
  ];
  return new Map(requests);
}
