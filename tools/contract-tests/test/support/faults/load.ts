import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@deedwire/testing';
import * as operations from '../../../consumers/referral-portal/generated/2026-11-01.ts';
import type { AcceptedEvent } from './accepted-log.ts';

/** A load of requests that create referrals. */
export interface Load {
  /** Grows during the load. See `LoadResult`. */
  readonly accepted: number;
  /** Grows during the load. See `LoadResult`. */
  failures: ReadonlySet<string>;
  /** Starts no further referral. Resolves when all started ones are accepted. */
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
  /** Referrals that are created at the same time. */
  concurrency?: number;
  /** After each referral. */
  pauseMs?: number;
}

const retryMs = 100;
// Longer than any fault. Guards against a request that is never accepted.
const acceptedWithinMs = 120_000;

/**
 * Starts to create referrals. Retries each one with the same idempotency key until it is accepted, so a retry must not create
 * a second referral.
 */
export function startLoad({ accounts, clientOf, log, concurrency = 8, pauseMs = 250 }: LoadOptions): Load {
  const failures = new Set<string>();
  let accepted = 0;
  let isOver = false;

  async function tryOnce(accountId: string, idempotencyKey: string): Promise<string | null> {
    const response = await clientOf(accountId)
      .send(operations.ReferDocument, { input: { clientName: 'Ada', idempotencyKey } })
      .catch(() => null);
    const result = response?.data?.createReferral;
    if (result?.referral) return result.referral.id;
    const codes = response?.errors.map(({ extensions }) => `${response.status} ${extensions.code}`) ?? ['no response'];
    for (const code of [...codes, ...(result?.userErrors ?? []).map((error) => error.code)]) failures.add(code);
    return null;
  }

  async function refer(first: number): Promise<void> {
    for (let index = first; !isOver; index += concurrency) {
      const { accountId } = accounts[index % accounts.length] ?? { accountId: '' };
      const idempotencyKey = randomUUID();
      const deadlineMs = performance.now() + acceptedWithinMs;
      for (;;) {
        const referralId = await tryOnce(accountId, idempotencyKey);
        if (referralId !== null) {
          await log.add({ accountId, referralId, idempotencyKey });
          break;
        }
        if (performance.now() > deadlineMs)
          throw new Error(`A referral was not accepted within ${acceptedWithinMs} ms: ${[...failures].join(', ')}`);
        await sleep(retryMs);
      }
      accepted += 1;
      await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, (_, index) => refer(index)));
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
