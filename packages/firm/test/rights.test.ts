import { testRights } from '@deedwire/store/test-support';
import { testedFirm } from './support/tested-firm.ts';

await testRights(testedFirm);
