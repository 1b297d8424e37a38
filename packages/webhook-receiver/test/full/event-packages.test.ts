import { placed } from '../support/delivery.ts';
import { testEventPackage } from '../support/event-package-suite.ts';
import { orderEvents } from '../support/event-packages.ts';
import * as events from '../support/order-events/index.ts';

// `tools/contract-tests/test/firm/full/event-packages.test.ts` runs the same with the package of the law firm.
const { type, version, data } = placed;
testEventPackage({ events, folder: orderEvents, prefix: 'X-Shop', type, version, data });
