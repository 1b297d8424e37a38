import { testRowSecurity } from '@deedwire/store/test-support';
import { testedFirm } from './support/tested-firm.ts';

await testRowSecurity(testedFirm);
