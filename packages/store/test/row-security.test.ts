import { testRowSecurity } from './support/row-security.ts';
import { sample } from './support/tested-services.ts';

await testRowSecurity(sample);
