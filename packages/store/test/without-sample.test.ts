import { testRights } from './support/rights.ts';
import { testRowSecurity } from './support/row-security.ts';
import { withoutSample } from './support/tested-services.ts';

await testRights(withoutSample);
await testRowSecurity(withoutSample);
