import { startChild } from '../child.ts';
import type { Defer } from '../with-cleanup.ts';
import type { ReceiverReport, ReceiverRequest } from './receiver-process.ts';

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

const timeoutMs = 300_000;

/** Starts the process of the receivers. Ask it one thing at a time. */
export async function startReceivers(count: number, defer: Defer) {
  const module = './delivery/receiver-process.ts';
  const child = await startChild<ReceiverRequest, ReceiverReport>(defer, module, String(count));
  return {
    /** `http://127.0.0.1:<port>` of each receiver. */
    origins: child.ready.split(',').map((port) => `http://127.0.0.1:${port}`),
    forget: () => child.ask({ request: 'forget' }),
    report: () => child.ask({ request: 'report' }),
    /** The arrivals since it was asked the last time, or since `forget`. */
    take: async () => (await child.ask({ request: 'take' })).arrivals,
    /** @throws {Error} if they have not arrived after five minutes, a guard against hanging only */
    async waitFor(deliveries: number): Promise<void> {
      const report = await child.ask({ request: 'wait', deliveries, timeoutMs });
      if (report.deliveries < deliveries)
        throw new Error(`Only ${report.deliveries} of ${deliveries} deliveries arrived within ${timeoutMs / 1000} s.`);
    },
  };
}
