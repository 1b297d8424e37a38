import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ReceivedRequest } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';

/** A load of requests that create referrals. Each accepted referral causes one event. */
export interface Load {
  /** Starts no further referral. Resolves when all started ones are accepted. */
  stop(): Promise<LoadResult>;
}

export interface LoadResult {
  /** Ids of referrals. */
  accepted: ReadonlySet<string>;
  /** Distinct failures: `503 SERVICE_UNAVAILABLE`, `IDEMPOTENCY_IN_PROGRESS`, `no response`. */
  failures: ReadonlySet<string>;
}

const concurrency = 6;
const pauseMs = 30;
const acceptedWithinMs = 60_000;

/**
 * Starts to create referrals. Retries each one with the same idempotency key until it is accepted, so a retry must not create
 * a second referral.
 */
export function startLoad(client: Client): Load {
  const accepted = new Set<string>();
  const failures = new Set<string>();
  let isOver = false;

  async function tryOnce(idempotencyKey: string): Promise<boolean> {
    const response = await client
      .send(operations.ReferDocument, { input: { clientName: 'Ada', idempotencyKey } })
      .catch(() => null);
    const result = response?.data?.createReferral;
    if (result?.referral) {
      accepted.add(result.referral.id);
      return true;
    }
    const codes = response?.errors.map(({ extensions }) => `${response.status} ${extensions.code}`) ?? ['no response'];
    for (const code of [...codes, ...(result?.userErrors ?? []).map((error) => error.code)]) failures.add(code);
    return false;
  }

  async function refer(): Promise<void> {
    while (!isOver) {
      const idempotencyKey = randomUUID();
      const deadlineMs = performance.now() + acceptedWithinMs;
      while (!(await tryOnce(idempotencyKey))) {
        if (performance.now() > deadlineMs)
          throw new Error(`A referral was not accepted within ${acceptedWithinMs} ms: ${[...failures].join(', ')}`);
        await sleep(100);
      }
      await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, refer));
  return {
    async stop() {
      isOver = true;
      await running;
      return { accepted, failures };
    },
  };
}

/** Compares the deliveries that a receiver got with the accepted referrals. */
export interface DeliveryReport {
  /** Ids of referrals that were accepted but not delivered. */
  lost: string[];
  /** Ids of referrals that were delivered but not accepted. */
  unexpected: string[];
  /** Number of deliveries with an invalid signature or timestamp. */
  unverified: number;
  /** Number of repeated deliveries that have another body or another id than the first. */
  changed: number;
  /** Number of repeated deliveries. */
  repeated: number;
}

export function compareDeliveries(
  accepted: ReadonlySet<string>,
  deliveries: readonly ReceivedRequest[],
  secret: string,
): DeliveryReport {
  const first = new Map<string, ReceivedRequest>();
  let unverified = 0;
  let changed = 0;
  for (const delivery of deliveries) {
    const { data }: { data: { referralId: string } } = JSON.parse(delivery.body.toString());
    const known = first.get(data.referralId) ?? delivery;
    first.set(data.referralId, known);
    if (!isAuthentic(delivery, secret)) unverified += 1;
    const isSame = known.headers['webhook-id'] === delivery.headers['webhook-id'] && known.body.equals(delivery.body);
    if (!isSame) changed += 1;
  }
  return {
    lost: [...accepted].filter((id) => !first.has(id)),
    unexpected: [...first.keys()].filter((id) => !accepted.has(id)),
    unverified,
    changed,
    repeated: deliveries.length - first.size,
  };
}

function isAuthentic({ headers, body }: ReceivedRequest, secret: string): boolean {
  try {
    verifyWebhook({ headers, body, secret });
    return true;
  } catch {
    return false;
  }
}
