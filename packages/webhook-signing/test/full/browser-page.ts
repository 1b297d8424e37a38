// Runs in a browser: every test vector through the web entry point, and the result to whoever serves the page.
import {
  generateWebhookSecret,
  isWebhookSecret,
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from '../../src/web.ts';

interface Body {
  body?: string;
  bodyBase64?: string;
}

interface Vectors {
  secrets: { valid: string[]; invalid: { secret: string }[] };
  sign: (Body & {
    name: string;
    id: string;
    timestamp: number;
    secret: string;
    nextSecret?: string;
    headers: Record<string, string>;
  })[];
  verify: (Body & {
    name: string;
    secrets: string[];
    now: number;
    toleranceSeconds?: number;
    headers: [name: string, value: string][];
    accept?: { id: string | null; timestamp: number };
    reject?: string;
  })[];
}

const failed: string[] = [];
let passed = 0;

function expectEqual(name: string, actual: unknown, expected: unknown): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is === shouldBe) passed += 1;
  else failed.push(`${name}: ${is}, not ${shouldBe}`);
}

function bytes({ body, bodyBase64 }: Body): Uint8Array {
  if (body !== undefined) return new TextEncoder().encode(body);
  return Uint8Array.from(atob(bodyBase64 ?? ''), (character) => character.charCodeAt(0));
}

/** In an order of its own, to be compared as JSON. */
function sorted(headers: object): [string, unknown][] {
  return Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function verdict({
  headers,
  secrets,
  now,
  toleranceSeconds,
  ...body
}: Vectors['verify'][number]): Promise<unknown> {
  const request = { headers: new Headers(headers), body: bytes(body), secret: secrets, now: new Date(now * 1000) };
  try {
    const { id, timestamp } = await verifyWebhook({ ...request, toleranceSeconds });
    return { id, timestamp: timestamp.getTime() / 1000 };
  } catch (error) {
    return WebhookVerificationError.isInstance(error) ? error.code : String(error);
  }
}

async function run(vectors: Vectors): Promise<void> {
  for (const secret of vectors.secrets.valid) expectEqual(secret, isWebhookSecret(secret), true);
  for (const { secret } of vectors.secrets.invalid) expectEqual(secret, isWebhookSecret(secret), false);
  for (const { name, headers, id, timestamp, secret, nextSecret, ...body } of vectors.sign) {
    // oxlint-disable-next-line no-await-in-loop -- in turn
    const signed = await signWebhook({ id, timestamp, secret, nextSecret, body: bytes(body) });
    expectEqual(`signs: ${name}`, sorted(signed), sorted(headers));
  }
  for (const vector of vectors.verify) {
    // oxlint-disable-next-line no-await-in-loop -- in turn
    expectEqual(`verifies: ${vector.name}`, await verdict(vector), vector.accept ?? vector.reject);
  }
  expectEqual('a generated secret', isWebhookSecret(generateWebhookSecret()), true);
}

try {
  await run(await (await fetch('/test-vectors.json')).json());
} catch (error) {
  failed.push(String(error));
}
await fetch('/report', { method: 'POST', body: JSON.stringify({ passed, failed }) });
