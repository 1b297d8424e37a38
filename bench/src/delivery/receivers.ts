import { startChild } from '../child.ts';
import type { Defer } from '../with-cleanup.ts';
import type { ReceiverReport, ReceiverRequest } from './receiver-process.ts';

/** The process of the receivers. Ask it one thing at a time. */
export interface Receivers {
  /** `http://127.0.0.1:<port>` of each receiver. */
  readonly origins: readonly string[];
  forget(): Promise<unknown>;
  report(): Promise<ReceiverReport>;
  /** @throws {Error} if they have not arrived after five minutes, a guard against hanging only */
  waitFor(deliveries: number): Promise<void>;
}

const timeoutMs = 300_000;

export async function startReceivers(count: number, defer: Defer): Promise<Receivers> {
  const module = './delivery/receiver-process.ts';
  const child = await startChild<ReceiverRequest, ReceiverReport>(defer, module, String(count));
  return {
    origins: child.ready.split(',').map((port) => `http://127.0.0.1:${port}`),
    forget: () => child.ask({ request: 'forget' }),
    report: () => child.ask({ request: 'report' }),
    async waitFor(deliveries) {
      const report = await child.ask({ request: 'wait', deliveries, timeoutMs });
      if (report.deliveries < deliveries)
        throw new Error(`Only ${report.deliveries} of ${deliveries} deliveries arrived within ${timeoutMs / 1000} s.`);
    },
  };
}
