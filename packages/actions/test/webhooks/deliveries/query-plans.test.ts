import { testDeliveryPages } from '../support/delivery-page-tests.ts';

// test/long/delivery-pages.test.ts does the same with 6 million deliveries.
testDeliveryPages({ finished: 80_000, pending: 20_000 });
