import { testReplayRanges } from '../webhooks/support/replay-range-tests.ts';

testReplayRanges(1_000_000, ({ sequences: [from, until], isEstimate, statements, buffers, deliveries }) => {
  const of = isEstimate ? 'a dry run' : 'a replay';
  process.stdout.write(
    `${of} of sequences ${from} to ${until}: ${statements} statements, ${buffers} buffers, then ${deliveries} deliveries\n`,
  );
});
