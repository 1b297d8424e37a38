import { printOldBytes } from '@deedwire/testing/old-generation';
import { createAttemptTimeouts, type Deadline } from '../../src/attempt-timeouts.ts';

// 5,000 attempts of 4 kB, of which 40 are in flight at a time. The first one takes so long that it moves to the old generation.

const deadlines = createAttemptTimeouts();
const slow = deadlines.start(performance.now(), 60_000, () => {});
const inFlight: Deadline[] = [];
const bytes = Buffer.alloc(2_000);
printOldBytes((number) => {
  bytes.writeUInt32LE(number);
  const attempt = bytes.toString('hex');
  inFlight.push(deadlines.start(performance.now(), 60_000, () => process.stderr.write(attempt)));
  if (inFlight.length > 40) inFlight.shift()?.cancel();
  if (number === 400) slow.cancel();
});
for (const deadline of inFlight) deadline.cancel();
