import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@deedwire/testing';
import { PlaceDocument } from '../webhook-operations.ts';
import type { AcceptedEvent } from './accepted-log.ts';

/** A load of requests that write records. */
export interface Load {
  /** Grows during the load. See `LoadResult`. */
  readonly accepted: number;
  /** Grows during the load. See `LoadResult`. */
  failures: ReadonlySet<string>;
  /** Starts no further record. Resolves when all started ones are accepted. */
  stop(): Promise<LoadResult>;
}

export interface LoadResult {
  accepted: number;
  /** Distinct failures: `503 SERVICE_UNAVAILABLE`, `IDEMPOTENCY_IN_PROGRESS`, `no response`. */
  failures: ReadonlySet<string>;
}

export interface LoadOptions {
  accounts: readonly { accountId: string }[];
  /** A client of the account, for one request. */
  clientOf: (accountId: string) => Client;
  log: { add(entry: AcceptedEvent & { idempotencyKey: string }): Promise<void> };
  /** Records that are written at the same time. */
  concurrency?: number;
  /** After each record. */
  pauseMs?: number;
  /** Defaults to `placeOrder`. */
  write?: WriteRecord;
}

/** Sends a request that writes a record, which causes one event. */
export type WriteRecord = (
  client: Client,
  idempotencyKey: string,
) => Promise<{
  status: number;
  errors: readonly { extensions: { code: string } }[];
  record: { id: string } | null | undefined;
  userErrors: readonly { code: string }[] | undefined;
}>;

export const placeOrder: WriteRecord = async (client, idempotencyKey) => {
  const { status, errors, data } = await client.send(PlaceDocument, { input: { item: 'Tea', idempotencyKey } });
  return { status, errors, record: data?.placeOrder.order, userErrors: data?.placeOrder.userErrors };
};

const retryMs = 100;
// Longer than any fault. Guards against a request that is never accepted.
const acceptedWithinMs = 120_000;

/**
 * Starts to write records. Retries each one with the same idempotency key until it is accepted, so a retry must not write a second
 * record.
 */
export function startLoad({
  accounts,
  clientOf,
  log,
  concurrency = 8,
  pauseMs = 250,
  write = placeOrder,
}: LoadOptions): Load {
  const failures = new Set<string>();
  let accepted = 0;
  let isOver = false;

  async function tryOnce(accountId: string, idempotencyKey: string): Promise<string | null> {
    const response = await write(clientOf(accountId), idempotencyKey).catch(() => null);
    if (response?.record) return response.record.id;
    const codes = response?.errors.map(({ extensions }) => `${response.status} ${extensions.code}`) ?? ['no response'];
    for (const code of [...codes, ...(response?.userErrors ?? []).map((error) => error.code)]) failures.add(code);
    return null;
  }

  async function writeSome(first: number): Promise<void> {
    for (let index = first; !isOver; index += concurrency) {
      const { accountId } = accounts[index % accounts.length] ?? { accountId: '' };
      const idempotencyKey = randomUUID();
      const deadlineMs = performance.now() + acceptedWithinMs;
      for (;;) {
        const recordId = await tryOnce(accountId, idempotencyKey);
        if (recordId !== null) {
          await log.add({ accountId, recordId, idempotencyKey });
          break;
        }
        if (performance.now() > deadlineMs)
          throw new Error(`A record was not accepted within ${acceptedWithinMs} ms: ${[...failures].join(', ')}`);
        await sleep(retryMs);
      }
      accepted += 1;
      await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, (_, index) => writeSome(index)));
  // `stop` reports the error.
  running.catch(() => {});
  return {
    get accepted() {
      return accepted;
    },
    failures,
    async stop() {
      isOver = true;
      await running;
      return { accepted, failures };
    },
  };
}
