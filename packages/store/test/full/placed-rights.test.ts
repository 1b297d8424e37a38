import { testRights } from '../support/rights.ts';
import { placedWithoutSample } from '../support/tested-services.ts';

await testRights(placedWithoutSample);
