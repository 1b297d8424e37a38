import {
  verifyWebhook,
  WebhookUsageError,
  WebhookVerificationError,
  type VerifiedWebhook,
  type WebhookRequestHeaders,
} from '@deedwire/webhook-signing/web';
import type { ReceivedBody } from './body.ts';
import { DeadlineError, within } from './deadline.ts';
import type { Deliveries } from './deliveries.ts';
import { handshake } from './handshake.ts';
import { type Outcome, refusal } from './responses.ts';
import type { Runs } from './runs.ts';
import { secretsProblem } from './secrets.ts';
import { noSecret, type Settings } from './settings.ts';
import { unsignedHeaders } from './unsigned-headers.ts';

/** A request as every platform can pass it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly headers: WebhookRequestHeaders;
  /** Called at most once. */
  readonly body: () => Promise<ReceivedBody>;
  /** When it arrived, if you have kept it and process it later: its timestamp may differ by 300 seconds from this time. */
  readonly receivedAt?: Date | undefined;
}

/** Reads and verifies requests, and answers handshakes. */
export class Requests<Context> {
  readonly #settings: Settings<Context>;
  readonly #runs: Runs;
  readonly #deliveries: Deliveries;

  constructor(settings: Settings<Context>, runs: Runs, deliveries: Deliveries) {
    this.#settings = settings;
    this.#runs = runs;
    this.#deliveries = deliveries;
  }

  async respond(request: ReceivedRequest, context: Context): Promise<Outcome> {
    if (request.method !== 'POST') {
      return refusal(405, 'METHOD_NOT_ALLOWED', `Deedwire sends POST, not ${request.method.slice(0, 20)}.`, {
        headers: { allow: 'POST' },
      });
    }
    const { events, prefix, awaitingSecret, unverifiedHandshakes } = this.#settings;
    const body = await this.#read(request);
    if ('code' in body) return body;
    if (body.kind !== 'bytes') return bodyRefusal(body);
    const loaded = await this.#loadSecrets(context);
    if ('code' in loaded) return loaded;
    const { bytes } = body;
    const [verified, isAnswered] =
      loaded.length === 0
        ? [refusal(503, 'SECRET_MISSING', noSecret), awaitingSecret]
        : [await verify(request, bytes, loaded, prefix), unverifiedHandshakes];
    if ('code' in verified) return (isAnswered ? handshake(events.parseWebhookBody(bytes)) : null) ?? verified;
    return this.#deliveries.process(verified.id, {
      body: bytes,
      source: 'push',
      unsigned: unsignedHeaders(request.headers, prefix),
    });
  }

  async #read(request: ReceivedRequest): Promise<Outcome | ReceivedBody> {
    try {
      return await this.#runs.run('body', this.#settings.bodyTimeoutMs, () => request.body());
    } catch (error) {
      if (error instanceof DeadlineError)
        return refusal(408, 'BODY_TIMEOUT', error.message, { headers: closeConnection });
      throw error;
    }
  }

  async #loadSecrets(context: Context): Promise<Outcome | readonly string[]> {
    const { secrets, storeTimeoutMs, tooLate } = this.#settings;
    let loaded: readonly string[];
    try {
      loaded = typeof secrets === 'function' ? await within(storeTimeoutMs, tooLate, () => secrets(context)) : secrets;
    } catch (error) {
      return refusal(500, 'SECRET_INVALID', 'The secrets could not be loaded.', { err: error });
    }
    const problem = secretsProblem(loaded);
    return problem === null ? loaded : refusal(500, 'SECRET_INVALID', problem);
  }
}

/** The rest of the body is not read. */
const closeConnection = { connection: 'close' };

function bodyRefusal(body: Exclude<ReceivedBody, { kind: 'bytes' }>): Outcome {
  if (body.kind === 'not-raw')
    return refusal(500, 'BODY_NOT_RAW', `The body was read before the receiver. ${body.fix}`);
  return body.kind === 'aborted'
    ? refusal(400, 'BODY_ABORTED', 'The client closed the connection too early.')
    : refusal(413, 'BODY_TOO_LARGE', 'The body has more than 300,000 bytes.', {
        headers: closeConnection,
      });
}

async function verify(
  { headers, receivedAt: now }: ReceivedRequest,
  body: Uint8Array,
  secret: readonly string[],
  prefix: string | undefined,
): Promise<Outcome | VerifiedWebhook> {
  try {
    return await verifyWebhook({ headers, body, secret, now, prefix });
  } catch (error) {
    if (WebhookVerificationError.isInstance(error)) return refusal(401, error.code, error.message);
    // Headers that no HTTP server produces.
    if (WebhookUsageError.isInstance(error)) return refusal(400, error.code, error.message);
    throw error;
  }
}
