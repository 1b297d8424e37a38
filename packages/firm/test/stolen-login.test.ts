import { testStolenLogin } from '@deedwire/webhooks/test-support';
import { testedFirm } from './support/tested-firm.ts';

await testStolenLogin(testedFirm);
