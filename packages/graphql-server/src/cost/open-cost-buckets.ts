import type { CostLimit } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/core';
import type { Logger } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import { settleCostBucket } from '@deedwire/store/cost-buckets';
import { Counter, type Registry } from 'prom-client';
import { type ChargeBasis, createCostBuckets } from './cost-buckets.ts';

export interface OpenCostBucketsOptions {
  interfaceName: InterfaceName;
  /** Nothing else must use its connections, because charges wait for them. */
  database: Database;
  logger: Logger;
  metrics: Registry;
}

/** The limit of a client unless an operator sets another one. The contracts publish it. */
export const defaultCostLimit: CostLimit = { maximum: 2_000, restoreRate: 200 };

const sweepEveryMs = 1_000;
const logFailuresEveryMs = 10_000;

/** The cost buckets of an interface, shared with its other processes through the database. */
export function openCostBuckets({ interfaceName, database, logger, metrics }: OpenCostBucketsOptions) {
  let loggedAtMs = -Infinity;
  const count = createCostMetrics(interfaceName, metrics);

  function logFailure(err: unknown): void {
    if (performance.now() - loggedAtMs < logFailuresEveryMs) return;
    loggedAtMs = performance.now();
    logger.warn({ err }, 'cost buckets cannot be settled; this process admits what it may spend in advance');
  }

  const buckets = createCostBuckets({
    settle: (clientId, settlement) => settleCostBucket(database, clientId, settlement),
    onCharge: (charge) => count.charge(charge),
    onRefund: (points) => count.refund(points),
    onSettled(result, error) {
      count.settlement(result);
      if (result === 'failed') logFailure(error);
    },
  });

  const timer = setInterval(() => buckets.sweep(), sweepEveryMs).unref();
  /** Stops the work in the background. */
  const close = (): void => clearInterval(timer);
  return { buckets, close };
}

function createCostMetrics(interfaceName: InterfaceName, metrics: Registry) {
  const registers = [metrics];
  const charges = new Counter({
    name: 'deedwire_cost_charges_total',
    help: 'Charges for operations and documents, by interface, result (admitted or rejected) and basis (held, settled or alone).',
    labelNames: ['interface', 'result', 'basis'],
    registers,
  });
  const points = new Counter({
    name: 'deedwire_cost_points_total',
    help: 'Cost points by interface and kind: charged for what was admitted, refunded, or rejected.',
    labelNames: ['interface', 'kind'],
    registers,
  });
  const settlements = new Counter({
    name: 'deedwire_cost_settlements_total',
    help: 'Settlements with the shared cost buckets, by interface and result (succeeded or failed).',
    labelNames: ['interface', 'result'],
    registers,
  });
  // `labels` validates and hashes the labels, which takes longer than to count.
  const chargesOf = (result: 'admitted' | 'rejected') => ({
    held: charges.labels({ interface: interfaceName, result, basis: 'held' }),
    settled: charges.labels({ interface: interfaceName, result, basis: 'settled' }),
    alone: charges.labels({ interface: interfaceName, result, basis: 'alone' }),
  });
  const [admitted, rejected] = [chargesOf('admitted'), chargesOf('rejected')];
  const pointsOf = (kind: string) => points.labels({ interface: interfaceName, kind });
  const [charged, refused, refunded] = [pointsOf('charged'), pointsOf('rejected'), pointsOf('refunded')];

  return {
    charge(charge: { points: number; admitted: boolean; basis: ChargeBasis }): void {
      (charge.admitted ? admitted : rejected)[charge.basis].inc();
      (charge.admitted ? charged : refused).inc(charge.points);
    },
    refund: (refund: number): void => refunded.inc(refund),
    settlement: (result: 'succeeded' | 'failed'): void => settlements.inc({ interface: interfaceName, result }),
  };
}
