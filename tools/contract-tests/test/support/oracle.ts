import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ReceivedRequest } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';

/** Clients that are referred, a few at a time, one after the other. Each reports one event. */
export interface Load {
  /** No further ones. Resolves when each that was begun has been accepted. */
  stop(): Promise<LoadResult>;
}

export interface LoadResult {
  /** Ids of referrals. */
  accepted: ReadonlySet<string>;
  /** What came instead of an acceptance, each once: `503 SERVICE_UNAVAILABLE`, `IDEMPOTENCY_IN_PROGRESS`, `no answer`. */
  refusals: ReadonlySet<string>;
}

const atOnce = 6;
const pauseMs = 30;
const acceptedWithinMs = 60_000;

/** Whatever comes back, each is sent again with the same idempotency key until it is accepted: it must not exist twice. */
export function startLoad(client: Client): Load {
  const accepted = new Set<string>();
  const refusals = new Set<string>();
  let isOver = false;

  async function tryOnce(idempotencyKey: string): Promise<boolean> {
    const answer = await client
      .send(operations.ReferDocument, { input: { clientName: 'Ada', idempotencyKey } })
      .catch(() => null);
    const result = answer?.data?.createReferral;
    if (result?.referral) {
      accepted.add(result.referral.id);
      return true;
    }
    const codes = answer?.errors.map(({ extensions }) => `${answer.status} ${extensions.code}`) ?? ['no answer'];
    for (const code of [...codes, ...(result?.userErrors ?? []).map((error) => error.code)]) refusals.add(code);
    return false;
  }

  async function refer(): Promise<void> {
    while (!isOver) {
      const idempotencyKey = randomUUID();
      const endMs = performance.now() + acceptedWithinMs;
      while (!(await tryOnce(idempotencyKey))) {
        if (performance.now() > endMs) throw new Error(`Never accepted: ${[...refusals].join(', ')}`);
        await sleep(100);
      }
      await sleep(pauseMs);
    }
  }

  const running = Promise.all(Array.from({ length: atOnce }, refer));
  return {
    async stop() {
      isOver = true;
      await running;
      return { accepted, refusals };
    },
  };
}

/** What a receiver got, held against what was accepted. */
export interface Verdict {
  /** Accepted and not delivered, and the other way round: ids of referrals. */
  lost: string[];
  unexpected: string[];
  /** Deliveries whose signature or time is not right. */
  unverified: number;
  /** Repeated with other bytes, or under another id. */
  changed: number;
  /** Deliveries beyond the first of each. */
  repeated: number;
}

export function judge(accepted: ReadonlySet<string>, deliveries: readonly ReceivedRequest[], secret: string): Verdict {
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
