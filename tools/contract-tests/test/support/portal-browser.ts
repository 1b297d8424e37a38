import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export const portalOrigin = 'https://portal.example';

/** The operations of the pages, by name. */
export const operations = {
  subscriptions: '{ webhookSubscriptions { nodes { id name callbackUrl status } } }',
  subscription: 'query ($id: ID!) { webhookSubscription(id: $id) { id } }',
  delivery: 'query ($id: ID!) { webhookDelivery(id: $id) { id status attempts { number advice } } }',
  payload: 'query ($id: ID!) { webhookDelivery(id: $id) { ...Bytes } } fragment Bytes on WebhookDelivery { payload }',
  exchange:
    'query ($id: ID!) { webhookDelivery(id: $id) { attempts { exchange { requestHeaders { name } responseBody } } } }',
  pause:
    'mutation ($input: PauseWebhookSubscriptionInput!) { pauseWebhookSubscription(input: $input) { webhookSubscription { id status } userErrors { code } } }',
  rename:
    'mutation ($input: UpdateWebhookSubscriptionInput!) { updateWebhookSubscription(input: $input) { webhookSubscription { name } userErrors { code } } }',
  rotate:
    'mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { webhookSecret userErrors { code } } }',
} as const;

export type OperationName = keyof typeof operations;

export const idOf = (name: OperationName): string => hash('sha256', operations[name]);

/** Of every page. */
export const reloadScript = 'addEventListener();';

/** Writes pages as their build does. Returns the folder. */
export async function writePages(more: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-portal-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'secret.txt'), 'not served');
  const scripts = [
    '<meta name="header-prefix" content="" />',
    '<meta name="payload-changes" content="" />',
    '<script src="./assets/reload.js"></script>',
    '<script type="module" src="./assets/app-1.js"></script>',
  ];
  await writeFile(join(folder, 'index.html'), scripts.join(''));
  await writeFile(join(folder, 'assets/app-1.js'), 'const text = "é";');
  await writeFile(join(folder, 'assets/app-1.css'), 'p {}');
  await writeFile(join(folder, 'assets/reload.js'), reloadScript);
  const documents = Object.fromEntries(
    Object.values({ ...operations, ...more }).map((text) => [hash('sha256', text), text]),
  );
  await writeFile(join(folder, 'documents.json'), JSON.stringify({ documents }));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

export interface Sent {
  method?: string;
  /** Below the base of the portal, or beginning with a slash. */
  path?: string;
  body?: unknown;
  headers?: Readonly<Record<string, string | undefined>>;
}

export interface Received {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON
  json: any;
}

/** A browser with a page of the portal: it sends the headers of a browser, and keeps the cookie. */
export function createBrowser(firstUrl: string, base: string, origin = portalOrigin) {
  let url = firstUrl;
  let cookie: string | undefined;
  let shown: string | undefined;

  async function send({ method = 'GET', path = '', body, headers = {} }: Sent): Promise<Received> {
    const all = {
      Host: new URL(origin).host,
      'Sec-Fetch-Site': 'same-origin',
      ...(method !== 'GET' && { Origin: origin }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      Cookie: cookie,
      'X-Portal-Session': shown,
      ...headers,
    };
    const given = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { promise, resolve, reject } = Promise.withResolvers<Received>();
    const { hostname, port } = new URL(url);
    const target = path.startsWith('/') ? path : `${base}${path}`;
    const sent = request({ host: hostname, port, method, path: target, headers: given }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const isGzip = response.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
        const text = (isGzip ? gunzipSync(bytes) : bytes).toString();
        const isJson = response.headers['content-type']?.includes('json') === true && text !== '';
        const { statusCode: status = 0, headers: fields } = response;
        resolve({ status, headers: fields, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    return promise;
  }

  return {
    send,
    /** The proxy sends the next requests to another server. */
    route: (to: string) => void (url = to),
    /** Exchanges a link, and keeps the cookie and the session. */
    async open(link: string, headers: Sent['headers'] = {}): Promise<Received> {
      const token = new URL(link).hash.slice('#link='.length);
      const response = await send({ method: 'POST', path: 'session', body: { token }, headers });
      if (response.status !== 200) return response;
      cookie = String(response.headers['set-cookie']).split(';')[0];
      shown = response.json.id;
      return response;
    },
    run: (name: OperationName, variables: object = {}, headers: Sent['headers'] = {}): Promise<Received> =>
      send({ method: 'POST', path: 'graphql', body: { documentId: idOf(name), variables }, headers }),
    cookie: () => cookie ?? '',
  };
}

export type Browser = ReturnType<typeof createBrowser>;
