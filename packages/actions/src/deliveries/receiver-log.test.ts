import { expect, test } from 'vitest';
import { readReceiverLog } from './receiver-log.ts';

test('refuses a log that names more deliveries than fit in memory', async () => {
  const lines = Array.from({ length: 4 }, (_, index) => `gid://service/WebhookDelivery/${index + 1}`);
  expect((await readReceiverLog('service', [...lines, ...lines], 4)).deliveries.size).toBe(4);
  await expect(readReceiverLog('service', lines, 3)).rejects.toThrow(
    'The log names more than 3 deliveries. Split it by time, and compare each part with --since and --until.',
  );
});
