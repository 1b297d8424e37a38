import { testReplayRanges } from '../support/replay-range-tests.ts';

testReplayRanges(10_000);
