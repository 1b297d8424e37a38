import { testRowSecurity } from '../support/row-security.ts';
import { placedWithoutSample } from '../support/tested-services.ts';

await testRowSecurity(placedWithoutSample);
