// Runs in a browser: checks every test vector with the web entry point and posts the results to the test server.
import {
  generateWebhookSecret,
  isWebhookSecret,
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from '../../src/web.ts';
import type { TestVectors, VectorBody, VerifyCase } from '../test-vectors.ts';

const failed: string[] = [];
let passed = 0;

function expectEqual(name: string, actual: unknown, expected: unknown): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found === wanted) passed += 1;
  else failed.push(`${name}: expected ${wanted}, found ${found}`);
}

function bytes({ body, bodyBase64 }: VectorBody): Uint8Array {
  if (body !== undefined) return new TextEncoder().encode(body);
  return Uint8Array.from(atob(bodyBase64 ?? ''), (character) => character.charCodeAt(0));
}

/** Sorts the headers by name, for a comparison as JSON. */
function sorted(headers: object): [string, unknown][] {
  return Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function verificationResult({ headers, secrets, now, toleranceSeconds, ...body }: VerifyCase): Promise<unknown> {
  const request = { headers: new Headers(headers), body: bytes(body), secret: secrets, now: new Date(now * 1000) };
  try {
    const { id, timestamp } = await verifyWebhook({ prefix: 'X-Service', ...request, toleranceSeconds });
    return { id, timestamp: timestamp.getTime() / 1000 };
  } catch (error) {
    return WebhookVerificationError.isInstance(error) ? error.code : String(error);
  }
}

async function run(vectors: TestVectors): Promise<void> {
  for (const secret of vectors.secrets.valid) expectEqual(secret, isWebhookSecret(secret), true);
  for (const { secret } of vectors.secrets.invalid) expectEqual(secret, isWebhookSecret(secret), false);
  for (const { name, headers, id, timestamp, secret, nextSecret, ...body } of vectors.sign) {
    const signed = await signWebhook({ prefix: 'X-Service', id, timestamp, secret, nextSecret, body: bytes(body) });
    expectEqual(`signs: ${name}`, sorted(signed), sorted(headers));
  }
  for (const vector of vectors.verify) {
    const expected = 'accept' in vector ? vector.accept : vector.reject;
    expectEqual(`verifies: ${vector.name}`, await verificationResult(vector), expected);
  }
  expectEqual('a generated secret', isWebhookSecret(generateWebhookSecret()), true);
}

try {
  await run((await (await fetch('/test-vectors.json')).json()) as TestVectors);
} catch (error) {
  failed.push(String(error));
}
await fetch('/report', { method: 'POST', body: JSON.stringify({ passed, failed }) });
