export { testService as service } from '@deedwire/core/test-service';
