import { testDeliveryPages } from '../webhooks/support/delivery-page-tests.ts';

testDeliveryPages({ finished: 5_000_000, pending: 1_000_000 }, (measured) => {
  for (const { list, rows, statements, buffers, costliest, locks } of measured) {
    process.stdout.write(
      `${list}: ${rows} rows, ${statements} statements of at most ${buffers} buffers (${costliest}) and ${locks} locks\n`,
    );
  }
});
