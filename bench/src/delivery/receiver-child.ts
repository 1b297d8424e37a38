import { startChild } from '../child.ts';
import type { ReceiverReport, ReceiverRequest } from './receiver-protocol.ts';

/** The process of the receivers. Ask it one thing at a time. */
export interface ReceiverChild {
  /** `http://127.0.0.1:<port>` of each receiver. */
  readonly origins: readonly string[];
  forget(): Promise<void>;
  report(): Promise<ReceiverReport>;
  /** @throws {Error} if they have not arrived after the timeout */
  waitFor(deliveries: number, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

// A guard against hanging only.
const waitTimeoutMs = 300_000;

export async function startReceiverChild(origins: number): Promise<ReceiverChild> {
  const started = await startChild<ReceiverRequest, ReceiverReport>('./delivery/receiver-process.ts', String(origins));
  const { child, ready } = started;
  return {
    origins: ready.split(',').map((port) => `http://127.0.0.1:${port}`),
    async forget() {
      await child.ask({ request: 'forget' });
    },
    report: () => child.ask({ request: 'report' }),
    async waitFor(deliveries, timeoutMs = waitTimeoutMs) {
      const report = await child.ask({ request: 'wait', deliveries, timeoutMs });
      if (report.deliveries < deliveries)
        throw new Error(`Only ${report.deliveries} of ${deliveries} deliveries arrived within ${timeoutMs / 1000} s.`);
    },
    close: () => child.close(),
  };
}
