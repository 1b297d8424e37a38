import { placedWithoutSample } from '@deedwire/store/test-support';
import { testStolenLogin } from '../support/stolen-login.ts';

await testStolenLogin(placedWithoutSample);
