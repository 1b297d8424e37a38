import { testRowSecurity } from './support/row-security.ts';
import { withoutSample } from './support/tested-services.ts';

await testRowSecurity(withoutSample);
